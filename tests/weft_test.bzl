"""Tests that find their sources by themselves: adding a test file needs no change in a BUILD file."""

def weft_tests(deps, support_deps = None, shards = {}, sizes = {}, data = [], linkopts = [], main = "@gtest//:gtest_main"):
    """One test for each *_test.cc of the folder and below, named as the file; all other sources become `:support`.

    Args:
      deps: what every test of the folder links; clang's layering_check wants all of them named that a test includes.
      support_deps: what `:support` links, where it is less.
      shards: name of a test -> number of shards that Bazel runs it in, for the slow ones.
      sizes: name of a test -> its size where it is not medium (5 minutes).
      data: files that every test may read.
      linkopts: flags of the linker for every test.
      main: what brings the main function.
    """
    tests = native.glob(["**/*_test.cc"], allow_empty = True)
    native.cc_library(
        name = "support",
        testonly = True,
        srcs = native.glob(["**/*.cc"], exclude = ["**/*_test.cc"], allow_empty = True),
        hdrs = native.glob(["**/*.h"], allow_empty = True),
        visibility = ["//tests:__subpackages__"],
        deps = (deps if support_deps == None else support_deps) + ["@gtest//:gtest"],
    )
    for source in tests:
        name = source[:-len(".cc")]
        native.cc_test(
            name = name,
            size = sizes.get(name, "medium"),
            srcs = [source],
            data = data,
            linkopts = linkopts,
            shard_count = shards.get(name),
            deps = deps + [
                ":support",
                "@gtest//:gtest",
                main,
            ],
        )

def weft_programs(deps):
    """One test for each .cc of the folder: it passes where the program exits with 0.

    Args:
      deps: what every program links.
    """
    for source in native.glob(["*.cc"], allow_empty = True):
        native.cc_test(
            name = source[:-len(".cc")],
            srcs = [source],
            deps = deps,
        )
