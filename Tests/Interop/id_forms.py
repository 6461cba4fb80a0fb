"""Every form that a recipient's id may take in a file, a log or a message, and the search for it."""

import base64
import hashlib
import hmac
import json
import pathlib
import re
import struct
import urllib.parse

from facts import TENANT

# Journals and databases are mostly zeros, which no form has: a longer run is read as this many.
ZEROS = 64


def keyed_hash(key: str, subject: str) -> bytes:
    """What `privacy.subject: hashed` records, in bytes (docs/forgetting.md); the key is in base64."""
    tenant = TENANT.encode()
    message = struct.pack(">I", len(tenant)) + tenant + subject.encode()
    return hmac.digest(base64.b64decode(key), message, hashlib.sha256)[:16]


def base64_forms(value: bytes) -> list[bytes]:
    """The characters that the bytes alone decide, at each of the three places that they may have in
    a longer value, in both alphabets."""
    forms = []
    for shift in range(3):
        text = base64.b64encode(bytes(shift) + value)
        text = text[-(-shift * 8 // 6):(shift + len(value)) * 8 // 6]
        forms += [text, text.translate(bytes.maketrans(b"+/", b"-_"))]
    return forms


def text_forms(text: str) -> dict[str, list[bytes]]:
    """An id, or a hash in hexadecimal digits, as different writers have it."""
    data = text.encode()
    ascii_json = json.dumps(text)[1:-1]
    json_forms = [ascii_json, json.dumps(text, ensure_ascii=False)[1:-1],
                  re.sub(r"\\u[0-9a-f]{4}", lambda code: f"\\u{code[0][2:].upper()}", ascii_json)]
    percent = urllib.parse.quote(text, safe="")
    return {
        "as it is": [data],
        "in JSON": [form.encode() for text in json_forms
                    for form in (text, text.replace("/", "\\/"))],
        "percent-encoded": [form.encode() for form in (
            percent, urllib.parse.quote(text), urllib.parse.quote_plus(text),
            re.sub("%..", lambda code: code[0].lower(), percent),
            "".join(f"%{byte:02X}" for byte in data), "".join(f"%{byte:02x}" for byte in data))],
        "in base64": base64_forms(data),
        "in hexadecimal": [data.hex().encode(), data.hex().upper().encode()],
    }


def forms_of(subject: str, keys: dict[str, str]) -> dict[bytes, str]:
    """Each form, and what it is: of the plain id, and of its hash under each key, as text and as
    bytes."""
    named = {f"the id {how}": forms for how, forms in text_forms(subject).items()}
    for name, key in keys.items():
        value = keyed_hash(key, subject)
        for how, forms in text_forms(value.hex()).items():
            named[f"the hash by the {name} key {how}"] = forms
        named[f"the hash by the {name} key in bytes"] = [
            value, value.hex().upper().encode(), *base64_forms(value)]
    # The same bytes may be several forms: the first name is the plainest.
    found: dict[bytes, str] = {}
    for name, forms in named.items():
        for form in forms:
            found.setdefault(form, name)
    return found


def found(data: bytes, forms: dict[bytes, str]) -> list[str]:
    """The names of the forms that stand in these bytes."""
    return sorted({name for form, name in forms.items() if form in data})


def dense(data: bytes) -> bytes:
    """The bytes with shorter runs of zeros."""
    return re.sub(rb"\0{%d,}" % ZEROS, bytes(ZEROS), data)


def files_of(directory: pathlib.Path) -> dict[str, bytes]:
    """What is in every file below a directory, free pages, logs of databases and segments too; with
    shorter runs of zeros."""
    files = {}
    for path in sorted(directory.rglob("*")):
        try:
            if path.is_file():
                files[str(path.relative_to(directory))] = dense(path.read_bytes())
        except FileNotFoundError:
            continue  # Removed since it was listed.
    return files
