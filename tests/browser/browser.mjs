// A browser that asks nobody for anything, and pages whose complaints are kept.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";

export async function start() {
  const profile = mkdtempSync(join(tmpdir(), "latlas-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: EXECUTABLE,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  return {
    context,
    async end() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

// Opens a page from the disk. What it complains of, and what it asks for besides
// itself, are in `complaints` and `requests`.
export async function open(browser, file, look = {}) {
  const page = await browser.context.newPage();
  const own = pathToFileURL(file).href;
  const complaints = [];
  const requests = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (request.url().split(/[?#]/)[0] !== own) requests.push(request.url());
  });
  await page.setViewportSize({ width: look.width ?? 1280, height: 900 });
  await page.emulateMedia({ colorScheme: look.scheme ?? "light" });
  await page.goto(own + (look.hash ?? ""));
  return { page, complaints, requests };
}
