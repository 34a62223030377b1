"""Reads what was made for Apple systems with other programs' eyes: the linked program (LIEF), the app's
project (pbxproj) and its Swift sources (tree-sitter). Usage: read_apple.py PROGRAM APP"""

import pathlib
import sys

import lief
import tree_sitter
import tree_sitter_swift
from pbxproj import XcodeProject


lief.logging.disable()


def check(what, got, wanted):
    assert got == wanted, f"{what}: {got!r} instead of {wanted!r}"
    print(f"{what}: {got}")


def program(path):
    file = lief.MachO.parse(path).at(0)
    check("CPU", file.header.cpu_type, lief.MachO.Header.CPU_TYPE.ARM64)
    check("file type", file.header.file_type, lief.MachO.Header.FILE_TYPE.EXECUTE)
    check("position independent", file.is_pie, True)
    check("platform", file.build_version.platform, lief.MachO.BuildVersion.PLATFORMS.MACOS)
    # An ARM Mac runs nothing without a signature; the linker's own is enough.
    check("signed", file.has_code_signature, True)
    check("entry point", file.has_main_command, True)
    check("segments", [s.name for s in file.segments if s.name != "__DATA_CONST"],
          ["__PAGEZERO", "__TEXT", "__DATA", "__LINKEDIT"])
    libraries = [library.name for library in file.libraries]
    strange = [name for name in libraries if not name.startswith(("/usr/lib/", "/System/Library/"))]
    check("libraries that macOS lacks", strange, [])
    print("libraries:", ", ".join(libraries))
    print("load commands:", ", ".join(str(c.command).split(".")[-1] for c in file.commands))


def app(root):
    project = XcodeProject.load(root / "Latlas.xcodeproj/project.pbxproj")
    check("targets", [target.name for target in project.objects.get_targets()], ["Latlas"])
    named = {}
    for file in project.objects.get_objects_in_section("PBXFileReference"):
        if file.sourceTree == "<group>":
            named[file.get_id()] = root / "Latlas" / file.path
        elif file.sourceTree == "SOURCE_ROOT":
            named[file.get_id()] = root / file.path
    missing = [str(path) for path in named.values() if not path.is_file()]
    check("files that are missing", missing, [])
    built = {build.fileRef for build in project.objects.get_objects_in_section("PBXBuildFile")}
    sources = sorted((root / "Latlas").glob("*.swift"))
    check("sources built", sorted(named[file] for file in built), sources)
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_swift.language()))
    for source in sources:
        tree = parser.parse(source.read_bytes())
        check(f"syntax errors in {source.name}", tree.root_node.has_error, False)


program(sys.argv[1])
app(pathlib.Path(sys.argv[2]))
