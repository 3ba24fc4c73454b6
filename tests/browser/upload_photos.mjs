// Camera photos on the upload page: one of 14 MB, one that was taken with the camera held upright, one in a format that no browser here
// opens. Also answers that do not come from our server: an error of a proxy, and a lost connection.
//
//   node upload_photos.mjs URL PICTURE PERSON SCREENSHOT-DIRECTORY
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { launch, open } from './browser.mjs';

const [url, picture, person, screenshots] = process.argv.slice(2);
const browser = await launch();
const source = 'data:image/png;base64,' + readFileSync(picture).toString('base64');

// The picture as a JPEG of side × side pixels with some noise, rotated by this many quarter turns.
async function photograph(page, { side, noise, quarters }) {
  const encoded = await page.evaluate(async ({ source, side, noise, quarters }) => {
    const image = await createImageBitmap(await (await fetch(source)).blob());
    const canvas = Object.assign(document.createElement('canvas'), { width: side, height: side });
    const context = canvas.getContext('2d');
    context.translate(side / 2, side / 2);
    context.rotate(quarters * Math.PI / 2);
    context.drawImage(image, -side / 2, -side / 2, side, side);
    const pixels = context.getImageData(0, 0, side, side);
    for (let i = 0, state = 1; i < pixels.data.length; i++) {
      state = state * 1103515245 + 12345 & 0x7fffffff;
      if (i % 4 < 3) pixels.data[i] += noise * ((state >> 16) / 0x4000 - 1);
    }
    context.putImageData(pixels, 0, 0);
    const blob = await new Promise(resolve => canvas.toBlob(resolve, 'image/jpeg', 1));
    return new Promise(resolve => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result.split(',')[1]);
      reader.readAsDataURL(blob);
    });
  }, { source, side, noise, quarters });
  return Buffer.from(encoded, 'base64');
}

// Adds EXIF data that says: rotate by a quarter turn to the right before display.
function turned(jpeg) {
  const tiff = Buffer.from('4d4d002a00000008000101120003000000010006000000000000', 'hex');
  const exif = Buffer.concat([Buffer.from('Exif\0\0'), tiff]);
  const segment = Buffer.from([0xff, 0xe1, 0, exif.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), segment, exif, jpeg.subarray(2)]);
}

try {
  const { page, complaints } = await open(browser);
  await page.goto(url);
  await page.getByText(/The gallery holds/).waitFor();
  const message = page.locator('#message'), first = page.locator('#nearest li').first().locator('b');
  const upload = (name, mimeType, buffer) => page.setInputFiles('#file', { name, mimeType, buffer });
  const told = async () => { await page.locator('#message.bad').waitFor(); return message.textContent(); };

  const large = await photograph(page, { side: 2600, noise: 40, quarters: 0 });
  assert.ok(large.length > 14e6 && large.length < 50e6, `a photo of ${large.length} bytes`);
  const [request] = await Promise.all([page.waitForRequest(url + '/upload'), upload('large.jpg', 'image/jpeg', large)]);
  assert.equal(request.method(), 'POST');
  await first.waitFor();
  assert.equal(await first.textContent(), person, 'a photo of 14 MB is recognised');
  assert.equal(await page.locator('#mine').evaluate(image => image.decode().then(() => image.naturalWidth)), 1600);

  await upload('upright.jpg', 'image/jpeg', turned(await photograph(page, { side: 800, noise: 0, quarters: 3 })));
  await message.filter({ hasText: /^Looking at upright/ }).waitFor({ state: 'hidden' });
  await first.waitFor();
  assert.equal(await first.textContent(), person, 'a photo is turned as its EXIF says');

  await upload('photo.heic', 'image/heic', Buffer.alloc(1 << 20, 7));
  assert.equal(await told(), 'This file is not a picture in a supported format (PNG, JPEG, WebP, PGM, PPM). ' +
               'This browser cannot open it either: save it as JPEG and choose it again.');
  await upload('photo.heic', 'image/heic', Buffer.alloc(14 << 20, 7));
  await message.filter({ hasText: 'It has 14 MB; the server takes at most 12 MB' }).waitFor();
  await page.screenshot({ path: `${screenshots}/upload-too-large.png`, fullPage: true });
  assert.deepEqual(complaints, []);

  const small = readFileSync(picture);
  const answers = [
    [{ status: 413, contentType: 'text/plain', body: 'too large\n' }, 'The server says that the file is too large.'],
    [{ status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' }, 'The server gave an error (502 Bad Gateway).'],
    [{ status: 200, contentType: 'text/html', body: 'Please log in' }, 'The server gave an answer that this page cannot read.'],
    [null, 'No answer came from the server: it was stopped, or the connection to it was lost.'],
  ];
  for (const [answer, sentence] of answers) {
    await page.route('**/upload', route => answer ? route.fulfill(answer) : route.abort());
    await upload('small.png', 'image/png', small);
    await message.filter({ hasText: sentence }).waitFor();
    assert.equal(await told(), sentence);
    await page.unroute('**/upload');
  }
  console.log(`ok: ${(large.length / 1e6).toFixed(1)} MB recognised as ${person}`);
} finally {
  await browser.close();
}
