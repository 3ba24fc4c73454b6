/* The paths of the step wrapper in the pod of a pipeline step. The step wrapper is a copy of
 * trainyard-step that runs the command of the step and collects its outputs. The pipeline writes
 * these paths into the pod. A node that cannot mount a volume at STEP_WRAPPER_DIRECTORY replaces
 * them with real paths. */
#ifndef TRAINYARD_KUBE_STEP_WRAPPER_H
#define TRAINYARD_KUBE_STEP_WRAPPER_H

#define STEP_WRAPPER_VOLUME    "trainyard-step"
#define STEP_WRAPPER_DIRECTORY "/trainyard"
#define STEP_WRAPPER_PROGRAM   STEP_WRAPPER_DIRECTORY "/step"
#define STEP_WRAPPER_SCRIPT    STEP_WRAPPER_DIRECTORY "/script"
/* The usage: STEP_WRAPPER_PROGRAM output LOG NAME=PATH... -- COMMAND [ARGUMENT...] */
#define STEP_WRAPPER_OUTPUT "output"

#endif
