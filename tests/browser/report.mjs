// The report of a training run, opened as a file in Chromium: readable on a wide screen and on a phone.
//
//   node report.mjs REPORT.HTML SCREENSHOT-DIRECTORY
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { assertAccessible, assertFits, launch, open } from './browser.mjs';

const [file, screenshots] = process.argv.slice(2);
const browser = await launch();

// The visible labels of the axes: their number, the smallest font size, and how many pairs in one plot overlap.
const numbers = page => page.evaluate(() => {
  const seen = [...document.querySelectorAll('.plot span')].filter(span => span.offsetWidth > 0);
  const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return {
    count: seen.length,
    smallest: Math.min(...seen.map(span => parseFloat(getComputedStyle(span).fontSize))),
    overlapping: [...document.querySelectorAll('.plot')].flatMap(plot => {
      const boxes = seen.filter(span => plot.contains(span)).map(span => span.getBoundingClientRect());
      return boxes.flatMap((a, i) => boxes.slice(i + 1).filter(b => over(a, b)));
    }).length,
  };
});

try {
  const { page, complaints } = await open(browser);
  await page.goto(pathToFileURL(file).href);
  assert.match(await page.title(), /^Training: /);
  assert.ok(await page.locator('svg polyline').count() >= 3, 'loss, speed and learning rate');
  for (const what of ['a wide screen', 'a phone']) {
    if (what === 'a phone') await assertFits(page, 'the report');
    const { count, smallest, overlapping } = await numbers(page);
    assert.ok(count >= 12, `${count} numbers at the axes on ${what}`);
    assert.ok(smallest >= 11, `labels of ${smallest} pixels on ${what}`);
    assert.equal(overlapping, 0, `labels overlap on ${what}`);
    const widths = await page.locator('td').evaluateAll(cells => cells.map(cell => cell.getBoundingClientRect().width));
    assert.ok(Math.min(...widths) > 120, `cells of ${Math.min(...widths)} pixels on ${what}`);
    await assertAccessible(page, `the report on ${what}`);
    await page.screenshot({ path: `${screenshots}/report-${what.split(' ').pop()}.png`, fullPage: true });
  }
  assert.deepEqual(complaints, []);
  console.log('ok: the report');
} finally {
  await browser.close();
}
