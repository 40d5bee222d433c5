import { spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const START_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 15_000;

// The first process of a process group. When stdin ends, because this process stops the localnet or
// dies, the group gets SIGTERM. The localnet then stops as after Ctrl-C. `$0` is the folder to delete.
const SUPERVISOR = `exec 3<&0 </dev/null
{ trap '' TERM; cat <&3; kill -TERM 0; rm -rf "$0"; } >/dev/null 2>&1 &
exec 3<&-
exec "$@"`;

/** @type {import("./index.js").startLocalnet} */
export async function startLocalnet(options = {}) {
  const command = [...(options.command ?? commandOfVariable() ?? findCommand()), ...words(options)];
  const folder = mkdtempSync(join(tmpdir(), "nexus-localnet-"));
  const child = spawn("sh", ["-c", SUPERVISOR, folder, ...command], {
    detached: true, // a process group of its own
    env: environment(folder),
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let stopping;
  const stop = () => (stopping ??= end(child, ended, folder));
  try {
    const { url, pid } = await started(child, options.timeoutMs ?? START_TIMEOUT_MS);
    // The localnet does not keep this process alive.
    for (const one of [child, child.stdin, child.stdout, child.stderr]) one.unref?.();
    return {
      url,
      faucetUrl: url,
      pid,
      fund: (address, amountMist) => fund(url, address, amountMist),
      stop,
      [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @type {import("./index.js").findCommand} */
export function findCommand() {
  const manifest = new URL("package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(manifest, "utf-8"));
  const requirement = `nexus-tools[localnet]==${version}`;
  if (isInstalled("uvx")) return ["uvx", "--from", requirement, "nexus-tools"];
  if (isInstalled("pipx")) return ["pipx", "run", "--spec", requirement, "nexus-tools"];
  if (isInstalled("nexus-tools")) return ["nexus-tools"];
  throw new Error("uvx, pipx and nexus-tools are not installed. Install uv, or pass `command`.");
}

function commandOfVariable() {
  const words = (process.env.NEXUS_LOCALNET_COMMAND ?? "").split(" ").filter(Boolean);
  return words.length > 0 ? words : undefined;
}

function isInstalled(program) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function words(options) {
  const named = {
    port: options.port ?? 0,
    state: options.state,
    "protocol-version": options.protocolVersion,
    "framework-from": options.frameworkFrom,
    "randomness-seed": options.randomnessSeed,
  };
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  return ["localnet", "start", "--json", ...given.map(([name, value]) => `--${name}=${value}`)];
}

/** Return an environment in which the localnet neither reads nor changes the user's settings. */
function environment(folder) {
  const data = process.env.XDG_DATA_HOME || join(homedir(), ".local", "share");
  return {
    // uv and pipx also keep their files in the data directory, which changes below.
    UV_PYTHON_INSTALL_DIR: join(data, "uv", "python"),
    UV_TOOL_DIR: join(data, "uv", "tools"),
    PIPX_HOME: join(data, "pipx"),
    ...process.env,
    XDG_DATA_HOME: folder,
    NEXUS_TOOLS_CONFIG: join(folder, "config.toml"),
  };
}

/** Wait for the document that the localnet prints when it is ready. */
function started(child, timeoutMs) {
  return new Promise((resolve, reject) => {
    let output = "";
    let messages = "";
    const fail = (reason) => {
      clearTimeout(timer);
      reject(new Error(`the localnet did not start: ${reason}\n${messages}`.trimEnd()));
    };
    const timer = setTimeout(() => fail(`it was not ready after ${timeoutMs} ms`), timeoutMs);
    child.stderr.setEncoding("utf-8").on("data", (text) => {
      messages = (messages + text).slice(-10_000);
    });
    child.stdout.setEncoding("utf-8").on("data", (text) => {
      output += text;
      const end = output.indexOf("\n}\n");
      if (end < 0) return;
      clearTimeout(timer);
      resolve(JSON.parse(output.slice(0, end + 2)));
    });
    child.once("error", (error) => fail(error.message));
    child.once("close", (code) => fail(`it exited with code ${code}`));
    child.stdin.on("error", () => {}); // the process ended before its stdin was closed
  });
}

async function fund(url, recipient, amountMist) {
  const amount = amountMist === undefined ? {} : { amount_mist: amountMist };
  const response = await fetch(`${url}/v2/gas`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ FixedAmountRequest: { recipient, ...amount } }),
  });
  if (!response.ok) throw new Error(`the faucet refused the request: ${await response.text()}`);
}

/** End the process group, and delete its folder. */
async function end(child, ended, folder) {
  child.ref();
  child.stdin.end();
  const timer = setTimeout(() => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {} // the group has ended
  }, STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
  rmSync(folder, { recursive: true, force: true });
}
