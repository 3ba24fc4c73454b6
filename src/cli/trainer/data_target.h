/* Checks the folder to which `trainer data` writes pictures. The folder must not contain other
 * files: old and new pictures would silently become one data set. */
#ifndef TRAINYARD_CLI_TRAINER_DATA_TARGET_H
#define TRAINYARD_CLI_TRAINER_DATA_TARGET_H

#include "train/data/dataset.h"

/* Checks that the folder does not exist or is empty. Hidden files and lost+found do not count. */
int data_target_check_empty(const char *directory, struct err *err);

/* Like data_target_check_empty(), but also accepts a folder with only files PERSON/NNN.png, where
 * PERSON is a person of `dataset` and the picture number NNN is from `first` to `end` - 1. A
 * restarted pod overwrites these pictures. */
int data_target_check_faces(const char *directory, const struct dataset *dataset, size_t first,
                            size_t end, struct err *err);

#endif
