/* Checks the folder to which `trainer data convert` or `trainer data faces` writes pictures. The
 * folder must not contain other files, because old and new pictures would silently become one data
 * set. The functions never change the folder. */
#ifndef TRAINYARD_CLI_TRAINER_DATA_TARGET_H
#define TRAINYARD_CLI_TRAINER_DATA_TARGET_H

#include "train/data/dataset.h"

/* Returns -ERR_USAGE if the folder exists and is not empty. Hidden files and lost+found do not
 * count. Returns 0 if the folder cannot be opened; the code that creates it reports the reason. */
int data_target_check_empty(const char *directory, struct err *err);

/* Like data_target_check_empty(), but also accepts a folder whose files are all named
 * PERSON/NNN.png, where PERSON is a person of `dataset` and the picture number NNN is from `first`
 * to `end` - 1. A restarted pod overwrites these pictures. */
int data_target_check_faces(const char *directory, const struct dataset *dataset, size_t first,
                            size_t end, struct err *err);

#endif
