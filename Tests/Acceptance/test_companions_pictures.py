"""The app for companions: pictures lose their metadata, and hostile ones are refused."""

import io

import pytest
from PIL import Image
from support import companions
from support.companions import Phone, chunk, exif, heic, jpeg, png, segment

CONFIGURATION = companions.CONFIGURATION


def test_picture_is_stored_without_place_comment_or_trailer(phone):
    ada = phone("ada")
    xmp = segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x>48.137N</x>")
    comment = segment(0xFE, b"<script>alert(1)</script>")
    profile = segment(0xE2, b"ICC_PROFILE\0\x01\x01colours")
    zipped = b"PK\x03\x04 and a zip archive"
    code, path = ada.upload(jpeg(exif(), xmp, comment, profile) + zipped)
    assert code == 0
    response = ada.send("GET", path)
    for removed in (b"48.137N", b"2026:01:31", b"script", b"PK\x03\x04", b"xap"):
        assert removed not in response.content
    assert b"ICC_PROFILE" in response.content and response.content.startswith(b"\xff\xd8\xff\xe1\x00\x22Exif\0\0MM")
    assert response.content.endswith(jpeg(profile)[2:]), "the orientation comes first, and the image is unchanged"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-security-policy"] == "default-src 'none'"
    text = chunk(b"tEXt", b"Location\x0048.137N")
    code, path = ada.upload(png(2, 2, text, chunk(b"eXIf", b"48.137N")) + zipped)
    assert code == 0 and ada.send("GET", path).content == png()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_orientation_is_kept_and_the_place_is_removed(phone, kind):
    ada = phone("ada")
    tags = Image.Exif()
    tags[0x112] = 6
    tags.get_ifd(0x8825)[29] = "2026:01:31"
    stream = io.BytesIO()
    picture = Image.new("RGB", (8, 4), (200, 30, 30))
    picture.save(stream, kind, exif=tags.tobytes())
    assert b"2026:01:31" in stream.getvalue()
    code, path = ada.upload(stream.getvalue())
    assert code == 0
    stored = ada.send("GET", path).content
    assert b"2026:01:31" not in stored
    shown = Image.open(io.BytesIO(stored))
    assert shown.getexif() == {0x112: 6}
    assert shown.convert("RGB").tobytes() == Image.open(stream).convert("RGB").tobytes()


def test_heic_of_a_phone_loses_its_place(phone):
    ada = phone("ada")
    image, place = b"\x26\x01 the image \xaf", exif()[4:]
    code, path = ada.upload(heic(image, b"\0\0\0\6" + place))
    assert code == 0 and path.endswith(".heic")
    response = ada.send("GET", path)
    assert response.headers["content-type"] == "image/heic"
    for removed in (b"48.137N", b"2026:01:31", b"Exif"):
        assert removed not in response.content
    assert response.content == heic(image, bytes(len(place) + 4)).replace(b"Exif", b"free")
    # A JPEG picture inside has metadata of its own.
    inside = heic(image, place).replace(b"hvc1", b"jpeg")
    assert ada.upload(inside) == (
        -1,
        "data about where the picture was taken cannot be removed from this kind of HEIC file: send it as JPEG",
    )


def test_hostile_pictures_are_refused(phone):
    ada = phone("ada")
    ada.refresh()
    html = b"<html><script>alert(1)</script></html>"
    hostile = {
        "svg": b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
        "html": html,
        "gif": b"GIF89a=1;alert(1)//",
        "pdf": b"%PDF-1.7",
        "cut jpeg": jpeg()[:-8],
        "jpeg of a header": b"\xff\xd8\xff\xe0" + html,
    }
    for name, content in hostile.items():
        code, message = ada.upload(content, "me.jpg")
        assert code == -1 and message, name
    ada = phone("grace")
    ada.refresh()
    assert ada.upload(png(60_000, 60_000)) == (-1, "the picture must have at most 64 million pixels")
    assert ada.upload(jpeg() + b"\0" * (2 << 20))[0] == -1
    response = ada.send("POST", "/upload", files={"file": ("a.jpg", jpeg() + b"\0" * (5 << 20))})
    assert response.status_code == 413 and response.json()["code"] == -1
    assert Phone.register(ada, hostile["svg"], email="svg@example.com")[0] == -1
    assert ada.refresh()["img_path"] == "/img/default.png"
    assert ada.send("GET", "/img/default.png").headers["content-type"] == "image/png"


def test_names_of_files_are_never_paths(server, phone):
    ada = phone("ada")
    for name in ("../../x.png", "/etc/passwd", "..\\x.png", "a" * 200 + ".php"):
        code, path = ada.upload(png(), name)
        assert code == 0 and path.startswith("/img/") and path.endswith(".png") and len(path) == 5 + 32 + 4
    assert not list(server.directory.rglob("*x.png"))
    for name in ("..%2f..%2fgateway.db", "%2e%2e%2fx.png", "x.png", "0" * 31 + "g.png"):
        assert ada.send("GET", f"/img/{name}").status_code == 404
    removed = ada.send("GET", "/img/" + "0" * 32 + ".png")
    assert (
        removed.headers["cache-control"] == "no-store"
        and removed.content == ada.send("GET", "/img/default.png").content
    )
