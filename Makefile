# A thin front end of Meson. Every target first installs the packages that it needs.
#
#   make            build/trainyard, build/trainer, build/trainyard-step
#   make demo       the FaceNet tutorial, from YAML to a served face model (DEMO_EXIT=1: end after an upload)
#   make demo-mnist, make demo-movielens    two other tutorials (DEMO_EXIT=1: end by themselves)
#   make test       unit tests, simulations and the scripts that are not long: 15 minutes on 2 cores
#   make test-all   every test: also the long scripts and the suites under sanitizers
#   make soak       every test with more kills, seeds and rounds
#   tests/run --changed    the tests of what you changed: about a minute
#   make test-kubernetes    the operator on a real Kubernetes, as root; builds one from Debian's sources first (ONLY=REGEX)
#   make test-machine       tests of systemd, a reboot and a suspend in a virtual machine, as root (ONLY=REGEX)
#   make test-clients       PyPI's Kubernetes client and Kubeflow SDK and helm against the embedded cluster; fetches them first (ONLY=REGEX)
#   make bench      performance figures beside their peers (ONLY=REGEX)
#   make lint       formatters and static checks
#   make image      the operator's container image, without Docker: $(BUILD)/operator-image.tar
#   make image-trainer    the trainer's: $(BUILD)/trainer-image.tar
#   make install    the programs, man pages and libtrainyard: DESTDIR= PREFIX=

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
ONLY ?= .
DEMO_EXIT ?=

.PHONY: all
all: setup-build
	@tools/build $(BUILD)
	@tools/first-steps $(BUILD)

.PHONY: demo
demo: setup-demo
	@tools/build $(BUILD)
	@BUILD=$(BUILD) DEMO_EXIT=$(DEMO_EXIT) tools/demo

.PHONY: demo-mnist
demo-mnist: setup-demo
	@tools/build $(BUILD)
	@BUILD=$(BUILD) DEMO_EXIT=$(DEMO_EXIT) tools/demo-mnist

.PHONY: demo-movielens
demo-movielens: setup-demo setup-data
	@tools/build $(BUILD)
	@BUILD=$(BUILD) DEMO_EXIT=$(DEMO_EXIT) tools/demo-movielens

.PHONY: test
test: setup-test
	@tests/run

.PHONY: test-all
test-all: setup-test
	@tests/run --all

.PHONY: soak
soak: setup-test
	@tests/run --soak

.PHONY: test-kubernetes
test-kubernetes: setup-kubernetes
	@tests/kubernetes/run '$(ONLY)'

.PHONY: test-machine
test-machine: setup-machine
	@tests/machine/run '$(ONLY)'

.PHONY: test-clients
test-clients: setup-clients
	@tests/clients/run '$(ONLY)'

.PHONY: bench
bench: setup-bench
	@tools/build $(BUILD)
	@BUILD=$(BUILD) tests/bench/run '$(ONLY)'

.PHONY: lint
lint: setup-lint
	@tools/build --all $(BUILD)
	@BUILD=$(BUILD) tools/lint

.PHONY: format
format: setup-lint
	@git ls-files '*.c' '*.h' | xargs clang-format-14 -i

.PHONY: image
image: setup-build
	@tools/build $(BUILD)
	@tools/image --name "trainyard/operator:$$($(BUILD)/trainyard --version | cut -d ' ' -f 2)" \
		--output $(BUILD)/operator-image.tar --cmd operator $(BUILD)/trainyard

# The image has the cascades for face detection if Debian's opencv-data is installed. It has no pictures to train on.
CASCADES = $(wildcard $(patsubst %,/usr/share/opencv4/haarcascades/haarcascade_%.xml,eye eye_tree_eyeglasses \
	frontalface_alt frontalface_alt2 frontalface_default))
.PHONY: image-trainer
image-trainer: setup-build
	@tools/build $(BUILD)
	@tools/image --name "trainyard/trainer:$$($(BUILD)/trainer --version | cut -d ' ' -f 2)" \
		--output $(BUILD)/trainer-image.tar $(addprefix --data ,$(CASCADES)) $(BUILD)/trainer

.PHONY: install
install: all
	@BUILD=$(BUILD) DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' tools/install

.PHONY: clean
clean:
	@rm -rf build build-sanitized build-clang build-tsan build-fuzz

setup-%:
	@tools/setup $*
