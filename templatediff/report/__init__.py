"""A crawl's labels as a static site of plain HTML, to be looked at: no server, no network, one style sheet, one script."""
