"""The manual page of the rewrites is up to date."""

from tests.rewrites.manual import PAGE, make_page


def test_page_is_up_to_date(update_golden: bool):
    if update_golden:
        PAGE.write_text(make_page(), encoding="utf-8")
    else:
        assert PAGE.read_text(encoding="utf-8") == make_page()
