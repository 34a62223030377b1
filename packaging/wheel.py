"""Writes a wheel that installs one static program: wheel.py PROGRAM VERSION ARCH LICENCES HOMEPAGE DIRECTORY.

https://packaging.python.org/specifications/binary-distribution-format: a zip with the program in
NAME-VERSION.data/scripts, which `pip` puts on the path. The wheel is called as the program; a program beside latlas
requires latlas of its version. It needs no C library, so that the tags of glibc and of musl both hold.
"""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

program, version, arch, licences, homepage, directory = sys.argv[1:]
package = Path(program).name
# In names of files a hyphen stands between name and version.
stem = f"{package.replace('-', '_')}-{version}"
tag = f"py3-none-manylinux_2_17_{arch}.musllinux_1_1_{arch}"
info = f"{stem}.dist-info"
expanded = "".join(f"Tag: py3-none-{platform}\n" for platform in tag.split("-")[2].split("."))
if package == "latlas":
    about, text = "Summary: Measure what common operations cost on this machine\n", Path("README.md").read_text()
else:
    about = f"Summary: The program {package}, which latlas runs\nRequires-Dist: latlas == {version}\n"
    text = "See the package latlas.\n"
files = {
    f"{stem}.data/scripts/{package}": Path(program).read_bytes(),
    f"{info}/METADATA": (
        f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n{about}"
        f"Home-page: {homepage}\nLicense: MIT OR Apache-2.0\nRequires-Python: >=3.7\n"
        f"Description-Content-Type: text/markdown\n\n{text}"
    ).encode(),
    f"{info}/WHEEL": (
        f"Wheel-Version: 1.0\nGenerator: latlas\nRoot-Is-Purelib: false\n{expanded}"
    ).encode(),
    **{
        f"{info}/licenses/{path.name}": path.read_bytes()
        for path in sorted(Path(licences).glob("[LN]*"))
    },
    # The pages and the manual, where `pip` puts what a package shares.
    **{
        f"{stem}.data/data/share/{path.relative_to(Path(licences).parent.parent)}": path.read_bytes()
        for path in sorted(Path(licences).parent.parent.rglob("*"))
        if package == "latlas" and path.is_file() and path.parts[-2] not in ("completions", "vendor-completions", "vendor_completions.d")
    },
}
record = ""
for name, content in files.items():
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    record += f"{name},sha256={digest},{len(content)}\n"
files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()

with zipfile.ZipFile(Path(directory) / f"{stem}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
    for name, content in files.items():
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
        wheel.writestr(entry, content)
