"""All that is particular to Debian: where Bazel's own helper repositories and the system's libraries are.

Bazel 4.2.3, as Debian packages it, finds its helper repositories by these names instead of downloading them. Each library is a
repository of its own, so that a target says in its deps which of them it uses; its BUILD file lies beside this one.
"""

# Repository -> the BUILD file beside this one that says what of /usr belongs to it.
_LIBRARIES = ["benchmark", "cli11", "eigen", "gtest", "json", "onednn", "png", "spdlog", "zlib"]

def debian_repositories():
    """Declares Bazel's helper repositories and the system's libraries."""
    native.local_repository(name = "platforms", path = "/usr/share/bazel/tools/platforms")
    native.local_repository(name = "bazel_skylib", path = "/usr/share/bazel/tools/skylib")
    native.local_repository(name = "rules_java", path = "/usr/share/bazel/rules/java")
    native.local_repository(name = "rules_proto", path = "/usr/share/bazel/rules/proto")

    # Debian's own rules_cc does not load with its Bazel, and cc_test asks for the coverage tools even without coverage.
    native.local_repository(name = "rules_cc", path = "third_party/rules_cc")
    native.local_repository(name = "remote_coverage_tools", path = "third_party/coverage")

    for library in _LIBRARIES:
        native.new_local_repository(
            name = library,
            path = "/usr",
            build_file = "//third_party:%s.BUILD" % library,
        )
