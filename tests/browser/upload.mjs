// The upload page in Chromium: choose a picture, see the three nearest people; a bad file gets a sentence; a sample is one
// click; the page stays usable by keyboard and at the width of a phone.
//
//   node upload.mjs URL PICTURE PERSON NOT-A-PICTURE SCREENSHOT-DIRECTORY
import { chromium } from 'playwright-core';
import assert from 'node:assert/strict';

const [url, picture, person, notAPicture, screenshots] = process.argv.slice(2);
const patience = 120_000; // milliseconds that only a defect reaches
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  timeout: patience,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
         '--disable-component-update', '--disable-sync'],
});

try {
  const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
  page.setDefaultTimeout(patience);
  const complaints = [];
  page.on('pageerror', error => complaints.push(String(error)));
  page.on('response', reply => { if (reply.status() >= 500) complaints.push(`${reply.status()} ${reply.url()}`); });

  await page.goto(url);
  assert.match(page.url(), /\/upload$/, 'the root leads to the page');
  await page.getByText(/The gallery holds \d+ pictures of \d+ people/).waitFor();

  await page.setInputFiles('#file', picture);
  const nearest = page.locator('#nearest li');
  await nearest.nth(2).waitFor();
  assert.equal(await nearest.count(), 3);
  assert.equal(await nearest.nth(0).locator('b').textContent(), person, 'the right person comes first');
  const distances = (await page.locator('.distance').allTextContents()).map(text => Number(text.match(/[\d.]+$/)[0]));
  assert.ok(distances[0] <= distances[1] && distances[1] <= distances[2], `nearest first: ${distances}`);
  for (const image of await page.locator('#answer img').all())
    await page.waitForFunction(shown => shown.complete && shown.naturalWidth > 0, await image.elementHandle());
  await page.screenshot({ path: `${screenshots}/upload-answer.png`, fullPage: true });

  await page.setInputFiles('#file', notAPicture);
  await page.locator('#message.bad').waitFor();
  const sentence = await page.locator('#message').textContent();
  assert.match(sentence, /picture|image/i, `a sentence about the file, not: ${sentence}`);
  assert.equal(await page.locator('#answer').isVisible(), false, 'the old answer is gone');
  await page.screenshot({ path: `${screenshots}/upload-bad-file.png`, fullPage: true });

  const sample = page.locator('#samples button').first();
  const name = (await sample.textContent()).trim();
  await sample.focus();
  await page.keyboard.press('Enter');
  await nearest.nth(2).waitFor();
  assert.equal(await page.locator('#message').textContent(), '');
  assert.ok(name.length > 0);

  await page.setViewportSize({ width: 360, height: 800 });
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide for a phone`);
  await page.screenshot({ path: `${screenshots}/upload-phone.png`, fullPage: true });
  assert.deepEqual(complaints, []);
  console.log(`ok: ${person} at ${distances[0]}, then ${distances.slice(1).join(', ')}; bad file: ${sentence}`);
} finally {
  await browser.close();
}
