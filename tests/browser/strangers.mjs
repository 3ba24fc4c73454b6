// The upload page with pictures that it cannot name: a person outside the gallery gets grey cards and a sentence; a grey square and a
// picture of two faces get no cards.
//
//   node strangers.mjs URL KNOWN-PICTURE STRANGER-PICTURE SCREENSHOT-DIRECTORY
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { assertAccessible, launch, open } from './browser.mjs';

const [url, known, stranger, screenshots] = process.argv.slice(2);
const browser = await launch();

// PNG files are used as they are. The PGM files of the ORL pictures are converted to PNG, because browsers do not open them.
const encoded = path => 'data:;base64,' + readFileSync(path).toString('base64');

// Composes pictures side by side into one PNG. Without pictures the result is a grey square.
async function compose(page, ...paths) {
  const text = await page.evaluate(async sources => {
    const pgm = bytes => {
      const head = /^P5\s+(\d+)\s+(\d+)\s+255\s/.exec(String.fromCharCode(...bytes.slice(0, 32)));
      const [width, height] = [Number(head[1]), Number(head[2])];
      const image = new ImageData(width, height);
      bytes.slice(head[0].length).forEach((grey, i) => image.data.set([grey, grey, grey, 255], 4 * i));
      return createImageBitmap(image);
    };
    const images = await Promise.all(sources.map(async source => {
      const blob = await (await fetch(source)).blob();
      const bytes = new Uint8Array(await blob.arrayBuffer());
      return bytes[0] === 0x50 && bytes[1] === 0x35 ? pgm(bytes) : createImageBitmap(blob);
    }));
    const side = 200;
    const canvas = Object.assign(document.createElement('canvas'), { width: side * Math.max(1, images.length), height: side });
    const context = canvas.getContext('2d');
    context.fillStyle = 'grey';
    context.fillRect(0, 0, canvas.width, side);
    images.forEach((image, i) => context.drawImage(image, side * i, 0, side, side * image.height / image.width));
    return canvas.toDataURL('image/png');
  }, paths.map(encoded));
  return { name: 'picture.png', mimeType: 'image/png', buffer: Buffer.from(text.split(',')[1], 'base64') };
}

try {
  const { page, complaints } = await open(browser);
  await page.goto(url);
  await page.getByText(/The gallery holds/).waitFor();
  const message = page.locator('#message'), cards = page.locator('#nearest li');
  const upload = async (file, sentence) => {
    const replied = page.waitForResponse(reply => reply.url().endsWith('/upload'));
    await page.setInputFiles('#file', file);
    const answer = await (await replied).json();
    await message.filter({ hasText: sentence }).waitFor();
    return answer;
  };

  let answer = await upload(known, /^This is (very )?likely /);
  assert.ok(answer.known && answer.found === 1 && answer.nearest[0].distance < answer.threshold);
  assert.equal(await page.locator('#nearest.known').count(), 1);

  answer = await upload(stranger, /^No person of the gallery is near: this is probably a stranger/);
  assert.deepEqual([answer.found, answer.known, answer.confidence], [1, false, 'no person of the gallery is near']);
  assert.equal(await cards.count(), 3);
  assert.equal(await page.locator('#nearest.known').count(), 0, 'no green card for a stranger');
  assert.ok((await page.locator('.confidence').allTextContents()).every(text => text.startsWith('not near')));
  await assertAccessible(page, 'a stranger');
  await page.screenshot({ path: `${screenshots}/upload-stranger.png`, fullPage: true });

  answer = await upload(await compose(page), /^No face was found on this picture/);
  assert.deepEqual([answer.found, answer.known, answer.confidence, answer.nearest.length], [0, false, 'no face found', 0]);
  assert.equal(await page.locator('#answer').isVisible(), false, 'no person is shown for a grey square');

  answer = await upload(await compose(page, known, known), /^2 faces were found on this photo\. Crop it to one face/);
  assert.deepEqual([answer.found, answer.known], [2, false]);
  assert.equal(await page.locator('#mine').isVisible(), true);
  assert.equal(await cards.first().isVisible(), false, 'no person is named for two faces');
  await page.setViewportSize({ width: 375, height: 800 });
  await page.screenshot({ path: `${screenshots}/upload-two-faces.png`, fullPage: true });
  assert.deepEqual(complaints, []);
  console.log('ok: a stranger, a grey square, two faces');
} finally {
  await browser.close();
}
