"""weft as an installed library: headers, one static library, and files for pkg-config and CMake."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _include_name(header):
    """The header as an include names it, also where weft is another workspace's repository."""
    name = header.short_path
    return name.split("/", 2)[2] if name.startswith("../") else name

def _install_tree_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    library = ctx.attr.library[CcInfo]
    own = ctx.attr.library.label.workspace_name

    headers = [h for h in library.compilation_context.headers.to_list() if h.owner.workspace_name == own]
    header_list = ctx.actions.declare_file(ctx.label.name + ".headers")
    ctx.actions.write(header_list, "".join(["%s %s\n" % (_include_name(h), h.path) for h in headers]))

    archives = []
    flags = []
    for linked in library.linking_context.linker_inputs.to_list():
        flags += [flag for flag in linked.user_link_flags if flag not in flags]
        archives += [lib.static_library or lib.pic_static_library for lib in linked.libraries]
    archives = [archive for archive in archives if archive]

    tree = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.run(
        executable = ctx.file._script,
        arguments = [
            tree.path,
            header_list.path,
            " ".join(flags),
            ctx.attr.version,
            ctx.files._templates[0].dirname,
            toolchain.ar_executable,
        ] + [archive.path for archive in archives],
        inputs = depset(headers + archives + [header_list] + ctx.files._templates, transitive = [toolchain.all_files]),
        outputs = [tree],
        mnemonic = "WeftInstallTree",
        progress_message = "Laying out weft as an installed library",
    )
    return [DefaultInfo(files = depset([tree]), runfiles = ctx.runfiles([tree]))]

install_tree = rule(
    implementation = _install_tree_impl,
    doc = "A folder with include/, lib/, lib/pkgconfig and lib/cmake for the cc_library `library` and all it links.",
    attrs = {
        "library": attr.label(mandatory = True, providers = [CcInfo]),
        "version": attr.string(mandatory = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_script": attr.label(default = ":tree.sh", allow_single_file = True),
        "_templates": attr.label_list(default = [":weft.pc.in", ":weftConfig.cmake.in", ":weftConfigVersion.cmake.in"], allow_files = True),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
