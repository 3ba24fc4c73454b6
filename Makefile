# A thin front of Meson: every target first makes sure that the packages it needs are there.
BUILD ?= build
PREFIX ?= /usr/local
MESON_FLAGS ?=

.PHONY: all
all: setup $(BUILD)/build.ninja
	@ninja -C $(BUILD)

.PHONY: setup
setup:
	@tools/setup

$(BUILD)/build.ninja: | setup
	@meson setup $(MESON_FLAGS) $(BUILD)
