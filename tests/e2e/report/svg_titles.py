#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""svg_titles.py SVG - prints the title of each frame of a flame graph, as an XML reader gets it, a line each

Fails where there is a script.
"""
import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
root = ElementTree.parse(sys.argv[1]).getroot()
for element in root.iter():
    if element.tag.endswith("script"):
        sys.exit("svg_titles.py: there is a script")
for title in root.iter(SVG + "title"):
    print(title.text)
