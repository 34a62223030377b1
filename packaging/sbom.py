"""Lists the crates of the programs: sbom.py SBOM LICENCES PROGRAM..., of which the first runs the others.

SBOM is CycloneDX 1.5 JSON (https://cyclonedx.org/docs/1.5/json), LICENCES the texts that the crates
come with. Crates are those that `cargo tree` links into a program on either architecture; licence,
checksum and source come from `cargo metadata` and Cargo.lock.
"""

import json
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path


def cargo(*arguments):
    command = ["cargo", *arguments, "--locked"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


programs = sys.argv[3:]
linked = set()
for arch in ["x86_64", "aarch64"]:
    tree = cargo("tree", *(f"--package={name}" for name in programs), "-e", "normal", "--prefix=none", "--format={p}",
                 f"--target={arch}-unknown-linux-musl")
    # "name v1.2.3", and more behind it
    linked |= {tuple(line.split()[:2]) for line in tree.splitlines() if line}

lock = tomllib.loads(Path("Cargo.lock").read_text())["package"]
checksums = {(one["name"], one["version"]): one.get("checksum") for one in lock}
packages = [
    one for one in json.loads(cargo("metadata", "--format-version=1"))["packages"]
    if (one["name"], f"v{one['version']}") in linked
]
assert len(packages) == len(linked), "a crate of the programs is not in the metadata"


def component(one):
    key = (one["name"], one["version"])
    entry = {
        "type": "application" if one["name"] in programs else "library",
        "bom-ref": f"pkg:cargo/{key[0]}@{key[1]}",
        "name": key[0],
        "version": key[1],
        "purl": f"pkg:cargo/{key[0]}@{key[1]}",
    }
    if one["license"]:
        # Cargo's old way of writing OR
        entry["licenses"] = [{"expression": one["license"].replace("/", " OR ")}]
    if checksums[key]:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksums[key]}]
    if one["repository"]:
        entry["externalReferences"] = [{"type": "vcs", "url": one["repository"]}]
    return entry


components = sorted(map(component, packages), key=lambda one: one["bom-ref"])
main = next(one for one in components if one["name"] == programs[0])
others = [one for one in components if one is not main]
body = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "version": 1,
    "metadata": {"component": main},
    "components": others,
}
# The same list has the same number.
number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body))
Path(sys.argv[1]).write_text(json.dumps({**body, "serialNumber": f"urn:uuid:{number}"}, indent=1) + "\n")

with open(sys.argv[2], "w") as out:
    for one in sorted(packages, key=lambda one: (one["name"], one["version"])):
        if not one["source"]:
            continue
        out.write(f"=== {one['name']} {one['version']}: {one['license'] or one['license_file']}\n\n")
        directory = Path(one["manifest_path"]).parent
        for path in sorted(directory.iterdir()):
            if path.is_file() and path.name.upper().startswith(("LICEN", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")):
                out.write(f"--- {path.name}\n{path.read_text(errors='replace').strip()}\n\n")
