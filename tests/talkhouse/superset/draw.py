"""Runs where playwright is installed: draw dashboards in a headless Chromium; prints what went wrong, as JSON.

Arguments: URL CHROMIUM FOLDER ID:CHARTS...
"""

import json
import sys
from pathlib import Path

from playwright.sync_api import ConsoleMessage, Page, Response, sync_playwright

WIDTH = 1400
MINUTE = 60_000
DRAWN = """(count) => document.querySelectorAll('[data-test-chart-id]').length === count
    && document.querySelectorAll('[data-test="slice-container"]').length === count
    && !document.querySelector('[data-test="loading-indicator"], .loading')"""
HEIGHT = """() => Math.max(
    ...[...document.querySelectorAll('.dragdroppable-row')].map(row => row.getBoundingClientRect().bottom))"""
ERRORS = '[data-test="error-message"], .ant-alert-error, [role="alert"]'


def main() -> None:
    url, chromium, folder, *wanted = sys.argv[1:]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            context = browser.new_context()
            log_in(context.new_page(), url)
            found = {}
            for key in wanted:
                with context.new_page() as page:
                    found[key] = draw(page, url, Path(folder), *map(int, key.split(":")))
        finally:
            browser.close()
    print(json.dumps(found))


def log_in(page: Page, url: str) -> None:
    page.goto(f"{url}/login/", timeout=2 * MINUTE)
    page.fill("#username", "admin")
    page.fill("#password", "admin")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{url}/superset/welcome/", timeout=2 * MINUTE)


def draw(page: Page, url: str, folder: Path, dashboard: int, charts: int) -> dict[str, list[str]]:
    """Draw one dashboard, as high as it is, since Superset draws nothing that is out of sight."""
    wrong: dict[str, list[str]] = {"console": [], "requests": [], "shown": []}

    def on_console(message: ConsoleMessage) -> None:
        # Superset's pages also ask for a picture from elsewhere, which counts their readers.
        if message.type == "error" and message.location["url"].startswith(url):
            wrong["console"].append(message.text)

    def on_response(response: Response) -> None:
        if response.status >= 400:
            wrong["requests"].append(f"{response.status} {response.url}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: wrong["console"].append(str(error)))
    page.on("response", on_response)
    page.set_viewport_size({"width": WIDTH, "height": 10_000})
    page.goto(f"{url}/superset/dashboard/{dashboard}/", timeout=2 * MINUTE)
    page.wait_for_function(DRAWN, arg=charts, timeout=3 * MINUTE)
    page.set_viewport_size({"width": WIDTH, "height": int(page.evaluate(HEIGHT)) + 40})
    page.wait_for_function(DRAWN, arg=charts, timeout=MINUTE)
    page.wait_for_load_state("networkidle")
    wrong["shown"] = page.locator(ERRORS).all_inner_texts()
    (folder / f"dashboard_{dashboard}.png").write_bytes(still(page))
    return wrong


def still(page: Page) -> bytes:
    """Take a picture once two are the same: bars grow for a second."""
    before, picture = b"", page.screenshot()
    for _ in range(50):
        if picture == before:
            break
        before, picture = picture, page.screenshot()
    return picture


if __name__ == "__main__":
    main()
