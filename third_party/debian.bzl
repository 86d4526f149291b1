"""All that is particular to Debian: where Bazel's own helper repositories and the system's libraries are.

Bazel 4.2.3, as Debian packages it, finds its helper repositories by these names instead of downloading them. Each
library is a repository of its own, so that a target says in its deps which of them it uses; its BUILD file lies beside
this one.
"""

# Bazel's helper repositories, as Debian's packages have them.
_BAZEL = {
    "bazel_skylib": "/usr/share/bazel/tools/skylib",
    "platforms": "/usr/share/bazel/tools/platforms",
    "rules_java": "/usr/share/bazel/rules/java",
    "rules_proto": "/usr/share/bazel/rules/proto",
}

# Those that stand in for what Debian lacks: Debian's own rules_cc does not load with its Bazel, and cc_test asks for
# the coverage tools even without coverage. Repository -> the folder beside this file.
_STAND_INS = {
    "remote_coverage_tools": "coverage",
    "rules_cc": "rules_cc",
}

# Repository -> the BUILD file beside this one that says what of /usr belongs to it.
_LIBRARIES = ["benchmark", "cli11", "eigen", "gtest", "json", "onednn", "png", "spdlog", "zlib"]

def _stand_in_impl(ctx):
    folder = ctx.path(Label("//third_party:debian.bzl")).dirname.get_child(ctx.attr.folder)
    for entry in folder.readdir():
        ctx.symlink(entry, entry.basename)

# local_repository would look for the folder in the workspace of the user.
_stand_in = repository_rule(
    implementation = _stand_in_impl,
    attrs = {"folder": attr.string(mandatory = True)},
    doc = "A repository whose files lie in a folder beside this file, whichever workspace asks for it.",
    local = True,
)

def _missing(names):
    """Those of the repositories that the workspace has not declared itself, so that it can bring its own."""
    return [name for name in names if not native.existing_rule(name)]

def debian_repositories():
    """Declares Bazel's helper repositories and the system's libraries, for weft and for a workspace that uses weft."""
    for name in _missing(_BAZEL):
        native.local_repository(name = name, path = _BAZEL[name])
    for name in _missing(_STAND_INS):
        _stand_in(name = name, folder = _STAND_INS[name])
    for name in _missing(_LIBRARIES):
        native.new_local_repository(
            name = name,
            path = "/usr",
            build_file = str(Label("//third_party:%s.BUILD" % name)),
        )
