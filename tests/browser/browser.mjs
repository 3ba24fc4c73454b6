// Shared by the tests of pages: starting Debian's Chromium, a page whose errors are collected, and checks for every page.
import { chromium } from 'playwright-core';
import axe from 'axe-core';
import assert from 'node:assert/strict';

const patience = 120_000; // milliseconds that only a defect reaches

export const launch = () => chromium.launch({
  executablePath: '/usr/bin/chromium',
  timeout: patience,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
         '--disable-component-update', '--disable-sync'],
});

// `complaints` collects errors of scripts, answers with status 500 and above, and missing files. ERR_NETWORK_CHANGED is left out:
// Chromium reports it when another test on this machine changes its network interfaces.
export async function open(browser, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.setDefaultTimeout(patience);
  const complaints = [];
  page.on('pageerror', error => complaints.push(String(error)));
  page.on('requestfailed', request => {
    const { errorText } = request.failure();
    if (errorText !== 'net::ERR_NETWORK_CHANGED') complaints.push(`${errorText} ${request.url()}`);
  });
  page.on('response', reply => {
    if (reply.status() >= 500 || reply.status() === 404) complaints.push(`${reply.status()} ${reply.url()}`);
  });
  return { page, complaints };
}

// axe-core must find no accessibility defect in the light and in the dark colour scheme.
export async function assertAccessible(page, what) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => window.axe.run());
    assert.deepEqual(violations.map(found => `${found.id}: ${found.nodes.map(node => node.html).join(' ')}`), [],
                     `${what} (${colorScheme})`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

// The page must not be wider than the screen of a phone.
export async function assertFits(page, what) {
  await page.setViewportSize({ width: 375, height: 800 });
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${what} is ${overflow} pixels too wide for a phone`);
}
