"""How good and how fast templatediff is on real pages, beside other extractors. Not part of the package."""
