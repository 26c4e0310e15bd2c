"""How much of an input is read: the limits of files, archives and what is packed in them; those of one page are
`templatediff.limits`."""

from __future__ import annotations

from templatediff.limits import DEFAULT

#: How much of a file is looked at to tell what it is.
SNIFF_BYTES = 4096
#: A longer list of paths is refused; bytes.
MAX_LIST = 1 << 30
#: Longer lines of JSON are failures. Escapes may make a page's text six times as long, seldom twice.
MAX_LINE = 2 * DEFAULT.max_bytes
#: What unpacks to more than MOST_UNPACKED bytes and to more than MAX_RATIO times its own size is a bomb. Templated pages
#: pack well, 50 to 1 and more in one stream; gzip reaches 1,030 to 1 on zeros, xz and zstd ten times that.
MAX_RATIO = 500
MOST_UNPACKED = 256 * 1024 * 1024
#: HTTP header lines of an archived response; longer ones are no HTTP.
MAX_HTTP_HEAD = 256 * 1024
