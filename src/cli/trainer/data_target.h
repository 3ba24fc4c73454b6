/* Where `trainer data` writes pictures: a folder in which nothing else is, for what it writes and
 * what was there would become one data set without a word. */
#ifndef TRAINYARD_CLI_TRAINER_DATA_TARGET_H
#define TRAINYARD_CLI_TRAINER_DATA_TARGET_H

#include "train/data/dataset.h"

/* There is no such folder, or nothing is in it. Hidden files and lost+found do not count. */
int data_target_check_empty(const char *directory, struct err *err);

/* The same, or it holds nothing but pictures PERSON/NNN.png of `dataset` from `first` to before
 * `end`: a pod that is started again writes them once more. */
int data_target_check_faces(const char *directory, const struct dataset *dataset, size_t first,
                            size_t end, struct err *err);

#endif
