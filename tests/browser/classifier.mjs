// The classifier's page in Chromium: it waits for the first version, shows a picture with truth, prediction, ten bars and the
// version, and takes a newer version over without a reload of anything.
//
//   node classifier.mjs URL EXPORT-COMMAND SCREENSHOT-DIRECTORY      EXPORT-COMMAND makes a new version and prints its number
import { chromium } from 'playwright-core';
import { execFileSync } from 'node:child_process';
import assert from 'node:assert/strict';

const [url, exportCommand, screenshots] = process.argv.slice(2);
const exportVersion = () => execFileSync(exportCommand, { encoding: 'utf8' }).trim();
const patience = 120_000; // milliseconds that only a defect reaches
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  timeout: patience,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
         '--disable-component-update', '--disable-sync'],
});

try {
  const page = await browser.newPage({ viewport: { width: 1000, height: 800 } });
  page.setDefaultTimeout(patience);
  const complaints = [];
  page.on('pageerror', error => complaints.push(String(error)));

  await page.goto(url);
  await page.getByText('Could not connect to a model yet').waitFor();
  await page.getByRole('button', { name: 'Test Random Image' }).click();
  await page.locator('#message.bad').waitFor();
  assert.match(await page.locator('#message').textContent(), /^There is no model yet/);
  await page.screenshot({ path: `${screenshots}/classifier-waiting.png`, fullPage: true });

  const first = exportVersion();
  await page.getByText(`model version: ${first}`).waitFor();
  const bars = page.locator('#bars .bar');
  await bars.nth(9).waitFor();
  assert.equal(await bars.count(), 10);
  assert.equal(await page.locator('#bars .bar.best').count(), 1);
  const percents = (await page.locator('.percent').allTextContents()).map(parseFloat);
  assert.ok(Math.abs(percents.reduce((a, b) => a + b) - 100) < 1, `the bars add up to 100: ${percents}`);
  const names = await page.locator('#bars > span:not(.percent)').allTextContents();
  assert.ok(names.includes('Ankle boot') && names.includes('Sneaker'), `classes have names: ${names}`);

  let right = 0;
  const rounds = 40, pictures = new Set(); // of four in five it is right: by chance it has half of forty wrong twice in 100,000 runs
  for (let round = 0; round < rounds; round++) {
    await page.getByRole('button', { name: 'Test Random Image' }).focus();
    const replied = page.waitForResponse(reply => reply.url().endsWith('/random'));
    await page.keyboard.press('Enter');
    const { picture, truth, prediction } = await (await replied).json();
    // Now and then a picture comes twice in a row.
    await page.waitForFunction(shown => ['truth', 'prediction'].every(id => document.getElementById(id).textContent === shown[id]) &&
      document.getElementById('picture').getAttribute('src') === shown.picture, { picture, truth, prediction });
    assert.ok(names.includes(truth) && names.includes(prediction));
    assert.equal(await page.locator('#verdict').getAttribute('class'), truth === prediction ? 'right' : 'wrong');
    right += truth === prediction;
    pictures.add(picture);
  }
  await page.waitForFunction(() => document.getElementById('picture').naturalWidth === 28);
  assert.ok(pictures.size > rounds / 2, 'the pictures are random');
  assert.ok(right > rounds / 2, `the model has learnt: ${right} of ${rounds}`);
  await page.screenshot({ path: `${screenshots}/classifier-answer.png`, fullPage: true });

  const second = exportVersion();
  assert.ok(Number(second) > Number(first));
  await page.getByText(`model version: ${second}`).waitFor();
  await page.getByText('A new version is served').waitFor();

  await page.setViewportSize({ width: 360, height: 800 });
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide for a phone`);
  await page.screenshot({ path: `${screenshots}/classifier-phone.png`, fullPage: true });
  assert.deepEqual(complaints, []);
  console.log(`ok: ${right} of ${rounds} right, version ${first} then ${second}`);
} finally {
  await browser.close();
}
