"""The links of a built site, read from its files."""

from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit

HOST = 'http://the-site/'   # the site's own address


class Page(HTMLParser):
    """What a page links to, and the anchors that others can link to."""

    def __init__(self, html):
        super().__init__()
        self.links, self.anchors = set(), {'', 'top'}
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag == 'base':   # the address of the site's folder, not a link
            return
        for name, value in attrs:
            if name in ('href', 'src'):
                self.links.add(value or '')
            elif name == 'id' or (tag, name) == ('a', 'name'):
                self.anchors.add(value)


def broken_links(site):
    """Return a line for each broken link within the site.

    A link to a folder is broken, because only a server would find the page in
    it.
    """
    pages = {path.relative_to(site).as_posix(): Page(path.read_text('utf-8'))
             for path in sorted(site.rglob('*.html'))}
    return [f'{name}: {link}' for name, page in pages.items()
            for link in sorted(page.links)
            if not leads_somewhere(urljoin(HOST + name, link), site, pages)]


def leads_somewhere(url, site, pages):
    if urljoin(url, '/') != HOST:
        return True
    url = urlsplit(url)
    target = unquote(url.path).lstrip('/')
    if target in pages:
        return unquote(url.fragment) in pages[target].anchors
    return (site / target).is_file()
