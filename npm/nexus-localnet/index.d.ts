/** The options of a localnet. */
export interface LocalnetOptions {
  /**
   * The command line of nexus-tools, for example `["nexus-tools"]`. Default: the variable
   * `NEXUS_LOCALNET_COMMAND`, or else the result of `findCommand()`.
   */
  command?: readonly string[];
  /** The port on 127.0.0.1. Default: a free port. */
  port?: number;
  /** The folder that keeps the chain across restarts. Default: the chain is in memory. */
  state?: string;
  /** The protocol version of the chain. */
  protocolVersion?: number;
  /** The URL of a node, or a folder, with the Sui framework to use. */
  frameworkFrom?: string;
  /** The seed of the chain's random bytes. Default: a random secret. */
  randomnessSeed?: string;
  /** The time limit for the start, in ms. The first start may install nexus-tools. Default: 300 000. */
  timeoutMs?: number;
}

/** A running localnet. It stops at the latest when this process ends. */
export interface Localnet {
  /** The URL of the node, which serves gRPC and gRPC-web. */
  readonly url: string;
  /** The URL of the faucet, for `requestSuiFromFaucetV2` of `@mysten/sui`. */
  readonly faucetUrl: string;
  /** The ID of the process that runs the localnet. */
  readonly pid: number;
  /** Send SUI from the faucet to an address. Default amount: the amount of the faucet. */
  fund(address: string, amountMist?: number): Promise<void>;
  /** Stop the localnet and wait until it has ended. Further calls have no effect. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Start a localnet, and wait until it is ready.
 *
 * @throws Error if nexus-tools is not available, or with its output if the localnet does not start.
 */
export function startLocalnet(options?: LocalnetOptions): Promise<Localnet>;

/**
 * Return the command line of nexus-tools: with `uvx`, else with `pipx run`, else as an installed
 * program. The first two run the version of nexus-tools with the version of this package.
 *
 * @throws Error if the `PATH` contains none of these programs.
 */
export function findCommand(): string[];
