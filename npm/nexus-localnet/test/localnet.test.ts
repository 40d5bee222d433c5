import { spawn, type ChildProcess } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

import { findCommand, startLocalnet, type Localnet } from "../index.js";

const ADDRESS = `0x${"ab".repeat(32)}`;

/** Call a unary method over gRPC-web with an empty request, and return the response message. */
async function call(url: string, method: string): Promise<Buffer> {
  const response = await fetch(`${url}/sui.rpc.v2.${method}`, {
    method: "POST",
    headers: { "content-type": "application/grpc-web+proto" },
    body: new Uint8Array(5), // flags and length of an empty message
  });
  const body = Buffer.from(await response.arrayBuffer());
  return body.subarray(5, 5 + body.readUInt32BE(1));
}

async function isReachable(url: string): Promise<boolean> {
  return fetch(`${url}/health`).then((response) => response.ok, () => false);
}

/** Start a program that starts a localnet, and return the program and the localnet's process ID. */
async function program(after: string): Promise<{ child: ChildProcess; pid: number }> {
  const index = new URL("../index.js", import.meta.url).href;
  const source = `
    import { startLocalnet } from ${JSON.stringify(index)};
    console.log((await startLocalnet()).pid);
    ${after}`;
  const stdio = ["ignore", "pipe", "inherit"] as const;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: [...stdio] });
  const pid = await new Promise<number>((resolve, reject) => {
    child.stdout!.once("data", (line) => resolve(Number(line)));
    child.once("close", (code) => reject(new Error(`the program exited with code ${code}`)));
  });
  return { child, pid };
}

async function hasEnded(pid: number): Promise<void> {
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), 20_000);
}

describe("a localnet", () => {
  let localnet: Localnet;

  beforeAll(async () => {
    localnet = await startLocalnet();
  });

  afterAll(() => localnet.stop());

  test("serves the latest checkpoint over gRPC-web", async () => {
    const response = await call(localnet.url, "LedgerService/GetCheckpoint");
    // GetCheckpointResponse: field 1, a Checkpoint of `length` bytes: field 1, the sequence number
    // (a varint), then field 2, the digest of 43 or 44 base58 characters.
    expect(response[0]).toBe(0x0a);
    expect(response.toString("latin1")).toMatch(/\x12[\x2b\x2c][1-9A-HJ-NP-Za-km-z]{43,44}/);
  });

  test("sends SUI to an address", async () => {
    await localnet.fund(ADDRESS);
    await localnet.fund(ADDRESS, 5);
    await expect(localnet.fund("0xzz")).rejects.toThrow("the faucet refused the request");
  });

  test("does not disturb another localnet", async () => {
    const other = await startLocalnet();
    expect(other.url).not.toBe(localnet.url);
    await other.stop();
    expect(await isReachable(other.url)).toBe(false);
    expect(await isReachable(localnet.url)).toBe(true);
  });
});

test("stop ends the process, and may be called again", async () => {
  const localnet = await startLocalnet({ randomnessSeed: "a b" });
  await Promise.all([localnet.stop(), localnet.stop()]);
  await localnet.stop();
  expect(() => process.kill(localnet.pid, 0)).toThrow("ESRCH");
});

test.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)("%s ends the localnet, too", async (signal) => {
  const { child, pid } = await program("setInterval(() => {}, 1000);");
  expect(process.kill(pid, 0)).toBe(true);
  child.kill(signal);
  await hasEnded(pid);
});

test("a program ends although its localnet runs, which stops it", async () => {
  const { child, pid } = await program("");
  if (child.exitCode === null) await new Promise((resolve) => child.once("exit", resolve));
  expect(child.exitCode).toBe(0);
  await hasEnded(pid);
});

describe("a command that fails", () => {
  test("is reported with its output", async () => {
    const command = ["sh", "-c", "echo no network here >&2; exit 3"];
    await expect(startLocalnet({ command })).rejects.toThrow(/code 3\nno network here/);
  });

  test("is reported if it does not exist", async () => {
    await expect(startLocalnet({ command: ["/no/such/program"] })).rejects.toThrow(/not found/);
  });

  test("is ended if it is not ready in time", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "late-")), "late");
    const command = ["sh", "-c", `sleep 60; touch ${file}`];
    await expect(startLocalnet({ command, timeoutMs: 200 })).rejects.toThrow("after 200 ms");
    expect(existsSync(file)).toBe(false);
  });
});

describe("the command line of nexus-tools", () => {
  function installed(...programs: string[]): void {
    const folder = mkdtempSync(join(tmpdir(), "programs-"));
    for (const program of programs) {
      writeFileSync(join(folder, program), "");
      chmodSync(join(folder, program), 0o755);
    }
    vi.stubEnv("PATH", folder);
  }

  test.each([
    [["uvx", "pipx", "nexus-tools"], ["uvx", "--from", "nexus-tools[localnet]==0.1.0", "nexus-tools"]],
    [["pipx", "nexus-tools"], ["pipx", "run", "--spec", "nexus-tools[localnet]==0.1.0", "nexus-tools"]],
    [["nexus-tools"], ["nexus-tools"]],
  ])("is chosen among %j", (programs, command) => {
    installed(...programs);
    try {
      expect(findCommand()).toEqual(command);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("is unknown if nothing is installed", () => {
    installed();
    try {
      expect(findCommand).toThrow("Install uv");
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
