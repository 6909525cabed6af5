"""The mails: how they are taken apart, what is refused, and what the corpus is."""

import json
from collections import Counter

import pytest

from lmcourse import hub, releases
from lmcourse.corpus.mails import GROUPS, Mails
from lmcourse.errors import CourseError

PART = b"Content-Type: %s\nContent-Transfer-Encoding: %s\n\n%s\n"


def multipart(kind: bytes, *parts: bytes) -> bytes:
    between = b"--edge\n".join([b"Ignore me.\n", *parts])
    return b'Content-Type: multipart/%s; boundary="edge"\n\n%s--edge--\n' % (kind, between)


@pytest.fixture
def read(tmp_path):
    """Write one mail per group, and read those of the first."""

    def read(raw: bytes):
        write(tmp_path, **{"easy-ham-1": [raw]})
        return next(Mails(tmp_path).mails())

    return read


def write(folder, **mails):
    for group in GROUPS:
        lines = [
            json.dumps({"name": "1.txt", "text": raw.decode("latin-1")}) + "\n"
            for raw in mails.get(group, [f"Subject: {group}\n\nText of {group}.\n".encode()])
        ]
        (folder / f"{group}.jsonl").write_text("".join(lines))


def test_groups_come_in_order_and_tell_spam(tmp_path):
    write(tmp_path)
    mails = Mails(tmp_path)
    assert [mail.group for mail in mails.mails()] == list(GROUPS)
    assert [mail.spam for mail in mails.mails()] == [False, False, False, True, True]
    assert next(mails.mails()) == (
        (("Subject", "easy-ham-1"),),
        "Text of easy-ham-1.\n",
        "easy-ham-1",
    )


def test_headers_are_apart_from_the_body(read):
    mail = read(
        b"From someone@example.org  Thu Aug 22 12:36:23 2002\n"
        b"Received: from a\n\tby b; Thu\nReceived: from c\n"
        b"Subject: =?iso-8859-1?Q?caf=E9?= =?utf-8?B?w6k=?=\n"
        b"X-Raw: na\xefve\nX-Utf: na\xc3\xafve\nX-Broken: =?utf-8?B?w6k?=\n"
        b"X-Odd: =?nonsense?Q?a=E9?=\nX-Bad: =?utf-8?B?w?=\n\nReceived: this is text\n"
    )
    assert mail.headers == (
        ("Received", "from a by b; Thu"),
        ("Received", "from c"),
        ("Subject", "caféé"),
        ("X-Raw", "naïve"),
        ("X-Utf", "naïve"),
        ("X-Broken", "é"),
        ("X-Odd", "aé"),
        ("X-Bad", "=?utf-8?B?w?="),
    )
    assert mail.body == "Received: this is text\n"


def test_what_is_no_header_begins_the_body(read):
    mail = read(b"Subject: one\nno header here\nTo: two\n\nText\n")
    assert mail.headers == (("Subject", "one"),)
    assert mail.body == "no header here\nTo: two\n\nText\n"


def test_a_mail_of_nothing(read):
    assert read(b"") == ((), "", "easy-ham-1")


@pytest.mark.parametrize(
    "kind, encoding, data, text",
    [
        (b"text/plain", b"quoted-printable", b"caf=C3=A9 =3D a=\nb", "café = ab\n"),
        (b"text/plain; charset=utf-8", b"base64", b"Y2Fmw6k=", "café"),
        (b"text/plain", b"base64", b"Y2Fmw6k", "café"),  # without its padding
        (b"text/plain; charset=iso-8859-15", b"8bit", b"5 \xa4", "5 €\n"),
        (b"text/plain; charset=us-ascii", b"8bit", b"\x93caf\xe9\x94", "“café”\n"),
        (b"text/plain; charset=default_charset", b"8bit", b"caf\xc3\xa9", "café\n"),
        (b"text/plain; charset=gb2312", b"8bit", "镕".encode("gbk"), "镕\n"),
        (b"text/plain; charset=undefined", b"8bit", b"caf\xe9", "café\n"),
        (b'text/plain; charset="a\x00b"', b"7bit", b"text", "text\n"),
        (b"text/plain", b"x-unknown", b"text", "text\n"),
        (b"nonsense", b"7bit", b"text", "text\n"),
        (
            b"text/html",
            b"7bit",
            b"<p>One<br>two &amp; 3 &lt; 4</p>\n\n<p>five",
            "One\ntwo & 3 < 4\nfive",
        ),
        (b"TEXT/HTML", b"7bit", b"V<!-- x -->ia<b>gr</b>a <a\nhref=x>y", "Viagra y"),
        (b"text/html", b"7bit", b"<style>p {}</style>a<script>b < c</script >d", "ad"),
        (b"image/gif", b"base64", b"R0lGODlh", ""),
    ],
)
def test_a_body_is_the_text_that_one_reads(read, kind, encoding, data, text):
    assert read(PART % (kind, encoding, data)).body == text


PLAIN, PAGE = PART % (b"text/plain", b"7bit", b"plain"), PART % (b"text/html", b"7bit", b"<p>page")
BLANK, IMAGE = PART % (b"text/plain", b"7bit", b" "), PART % (b"image/gif", b"base64", b"R0lGODlh")

INNER = multipart(b"alternative", PLAIN, PAGE).replace(b"edge", b"other")


@pytest.mark.parametrize(
    "raw, text",
    [
        (multipart(b"alternative", PLAIN, PAGE), "plain"),
        (multipart(b"alternative", BLANK, PAGE), "page"),
        (multipart(b"mixed", PLAIN, IMAGE, PAGE), "plain\npage"),
        (multipart(b"related", INNER, IMAGE), "plain"),
        (multipart(b"mixed", IMAGE), ""),
        (multipart(b"mixed", b"Content-Type: message/rfc822\n\nSubject: inner\n" + PLAIN), "plain"),
        (multipart(b"mixed", PLAIN).replace(b"--edge--", b""), "plain\n"),  # cut short
        (b"Content-Type: multipart/mixed\n\n--edge\nno boundary\n", "--edge\nno boundary\n"),
    ],
)
def test_a_body_of_several_parts(read, raw, text):
    assert read(raw).body == text


@pytest.mark.parametrize(
    "line, message",
    [
        (b"{", "Line 2 of .*spam-1.jsonl is not a mail as JSON"),
        (b'{"name": "1.txt"}', "Line 2 .*missing required field `text`"),
        (b'{"text": 3}', "Line 2 .*[Ee]xpected `str`"),
        ('{"text": "5 €"}'.encode(), "Line 2 .*can't encode character"),
        (b'{"text": "\xe9"}', "Line 2 .* is not a mail as JSON"),
        (b'{"x": ' + b"[" * 100_000, "Line 2 .* is not a mail as JSON"),
        (b"", "Line 2 .* is not a mail as JSON"),
    ],
)
def test_odd_lines_are_refused_by_name(tmp_path, line, message):
    write(tmp_path)
    with (tmp_path / "spam-1.jsonl").open("ab") as file:
        file.write(line + b"\n")
    mails = Mails(tmp_path).mails()
    for _ in range(4):
        next(mails)
    with pytest.raises(CourseError, match=message):
        next(mails)


def test_a_group_that_is_not_there(tmp_path):
    write(tmp_path)
    (tmp_path / "hard-ham-1.jsonl").unlink()
    with pytest.raises(CourseError, match=r"There is no file .*hard-ham-1\.jsonl.*real install"):
        Mails(tmp_path)


@pytest.fixture(scope="module")
def corpus():
    """All mails of the corpus."""
    if not releases.installed("mails"):
        pytest.skip("the mails are not installed, or hidden")
    return list(hub.real("the corpus", "mails").mails())


def test_the_size_of_the_corpus(corpus):
    # The package's README.
    assert Counter(mail.group for mail in corpus) == dict(
        zip(GROUPS, (2500, 1400, 250, 500, 1396), strict=True)
    )
    assert all(dict(mail.headers).keys() >= {"From", "Date"} for mail in corpus)
    blank = [mail for mail in corpus if not mail.body.strip()]
    assert len(blank) == 17 and all(mail.spam for mail in blank)


def test_no_character_of_the_corpus_is_lost(corpus):
    """The package's own JSON has lost characters of 500 mails, which the raw mails have."""
    assert sum("\N{REPLACEMENT CHARACTER}" in mail.body for mail in corpus) <= 9
    assert any("원거리 감시 시스템" in mail.body for mail in corpus)
    assert not any("=?" in value for mail in corpus for name, value in mail.headers if name == "To")
