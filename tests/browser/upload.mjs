// The upload page in Chromium: a chosen picture shows the three nearest people; a bad file gets an error message; a sample takes one
// click; the page works with the keyboard and at the width of a phone.
//
//   node upload.mjs URL PICTURE PERSON NOT-A-PICTURE SCREENSHOT-DIRECTORY
import assert from 'node:assert/strict';
import { assertAccessible, assertFits, launch, open } from './browser.mjs';

const [url, picture, person, notAPicture, screenshots] = process.argv.slice(2);
const browser = await launch();

try {
  const { page, complaints } = await open(browser);

  await page.goto(url);
  assert.match(page.url(), /\/upload$/, 'the root leads to the page');
  await page.getByText(/The gallery holds \d+ pictures of \d+ people/).waitFor();

  await page.setInputFiles('#file', picture);
  const nearest = page.locator('#nearest li');
  await nearest.nth(2).waitFor();
  assert.equal(await nearest.count(), 3);
  assert.equal(await nearest.nth(0).locator('b').textContent(), person, 'the right person comes first');
  assert.match(await page.locator('#message').textContent(), new RegExp(`^This is (very )?likely ${person}\\.$`));
  assert.equal(await page.locator('#nearest.known').count(), 1);
  const distances = (await page.locator('.distance').allTextContents()).map(text => Number(text.match(/[\d.]+$/)[0]));
  assert.ok(distances[0] <= distances[1] && distances[1] <= distances[2], `nearest first: ${distances}`);
  for (const image of await page.locator('#answer img').all())
    await page.waitForFunction(shown => shown.complete && shown.naturalWidth > 0, await image.elementHandle());
  await assertAccessible(page, 'the answer');
  await page.screenshot({ path: `${screenshots}/upload-answer.png`, fullPage: true });

  await page.setInputFiles('#file', notAPicture);
  await page.locator('#message.bad').waitFor();
  const sentence = await page.locator('#message').textContent();
  assert.match(sentence, /picture|image/i, `a sentence about the file, not: ${sentence}`);
  assert.equal(await page.locator('#answer').isVisible(), false, 'the old answer is gone');
  await page.screenshot({ path: `${screenshots}/upload-bad-file.png`, fullPage: true });

  await page.locator('#report').waitFor();
  const { page: report } = await open(browser);
  await report.goto(new URL('/report', url).href);
  assert.match(await report.title(), /^Training: face/);
  await report.goto(new URL('/help', url).href);
  await assertAccessible(report, 'the help page');
  await assertFits(report, 'the help page');
  await report.close();

  const sample = page.locator('#samples button').first();
  const name = (await sample.textContent()).trim();
  await sample.focus();
  await page.keyboard.press('Enter');
  await nearest.nth(2).waitFor();
  await page.locator('#message').filter({ hasText: /likely|may be|No person/ }).waitFor();
  assert.ok(name.length > 0);

  await assertFits(page, 'the page');
  await page.screenshot({ path: `${screenshots}/upload-phone.png`, fullPage: true });
  assert.deepEqual(complaints, []);
  console.log(`ok: ${person} at ${distances[0]}, then ${distances.slice(1).join(', ')}; bad file: ${sentence}`);
} finally {
  await browser.close();
}
