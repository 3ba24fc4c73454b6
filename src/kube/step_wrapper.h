/* Where the wrapper of a pipeline's step lies in its pod: the pipeline says so, and a node that
 * cannot mount the volume there puts the real paths into the command. */
#ifndef TRAINYARD_KUBE_STEP_WRAPPER_H
#define TRAINYARD_KUBE_STEP_WRAPPER_H

#define STEP_WRAPPER_VOLUME    "trainyard-step"
#define STEP_WRAPPER_DIRECTORY "/trainyard"
#define STEP_WRAPPER_PROGRAM   STEP_WRAPPER_DIRECTORY "/step"
#define STEP_WRAPPER_SCRIPT    STEP_WRAPPER_DIRECTORY "/script"
/* STEP_WRAPPER_PROGRAM output LOG NAME=PATH... -- COMMAND [ARGUMENT...] */
#define STEP_WRAPPER_OUTPUT "output"

#endif
