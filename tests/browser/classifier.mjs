// The classifier's page in Chromium: it waits for the first version, shows a picture with truth, prediction, ten bars and the version,
// and switches to a newer version without a reload.
//
//   node classifier.mjs URL EXPORT-COMMAND SCREENSHOT-DIRECTORY      EXPORT-COMMAND makes a new version and prints its number
import { execFileSync } from 'node:child_process';
import assert from 'node:assert/strict';
import { assertAccessible, assertFits, launch, open } from './browser.mjs';

const [url, exportCommand, screenshots] = process.argv.slice(2);
const exportVersion = () => execFileSync(exportCommand, { encoding: 'utf8' }).trim();
const browser = await launch();

try {
  const { page, complaints } = await open(browser);

  await page.goto(url);
  await page.getByText('Waiting for the first model: training has not exported one yet').waitFor();
  await assertAccessible(page, 'the page before the first model');
  await page.getByRole('button', { name: 'Test Random Image' }).click();
  await page.locator('#message.bad').waitFor();
  assert.match(await page.locator('#message').textContent(), /^There is no model yet/);
  await page.screenshot({ path: `${screenshots}/classifier-waiting.png`, fullPage: true });

  const first = exportVersion();
  const named = version => page.locator(`#model b[title="version ${version}"]`);
  await named(first).waitFor();
  assert.match(await page.locator('#model').textContent(), /^Answers come from the model of \d+ \w+ 20\d\d/, 'a date, not a number');
  const bars = page.locator('#bars .bar');
  await bars.nth(9).waitFor();
  assert.equal(await bars.count(), 10);
  assert.equal(await page.locator('#bars .bar.best').count(), 1);
  const percents = (await page.locator('.percent').allTextContents()).map(parseFloat);
  assert.ok(Math.abs(percents.reduce((a, b) => a + b) - 100) < 1, `the bars add up to 100: ${percents}`);
  const names = await page.locator('#bars > span:not(.percent)').allTextContents();
  assert.ok(names.includes('Ankle boot') && names.includes('Sneaker'), `classes have names: ${names}`);

  let right = 0;
  const rounds = 40, pictures = new Set(); // the model is right in 4 of 5 cases: it fails half of 40 by chance twice in 100,000 runs
  for (let round = 0; round < rounds; round++) {
    await page.getByRole('button', { name: 'Test Random Image' }).focus();
    const replied = page.waitForResponse(reply => reply.url().endsWith('/random'));
    await page.keyboard.press('Enter');
    const { picture, truth, prediction } = await (await replied).json();
    // The same picture may come twice in a row.
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
  await named(second).waitFor();
  await page.getByText('A newer model is there').waitFor();
  await assertAccessible(page, 'the page with an answer');
  assert.match(await page.locator('#about').textContent(), /^The model names \d+\.\d % of 10,000 test pictures correctly\.$/);
  assert.equal(await page.locator('#report').isVisible(), false, 'no report, no link');

  await assertFits(page, 'the page');
  await page.screenshot({ path: `${screenshots}/classifier-phone.png`, fullPage: true });
  assert.deepEqual(complaints, [`503 ${url}/random`], 'only the request before the first model fails');
  console.log(`ok: ${right} of ${rounds} right, version ${first} then ${second}`);
} finally {
  await browser.close();
}
