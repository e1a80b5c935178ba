// The bridge of an MCP App to the host that shows it: JSON-RPC by postMessage, as of the
// extension io.modelcontextprotocol/ui. The page has no network: all it knows comes from
// the host.

const protocol = "2026-01-26";
/** How long a host may take to answer, in milliseconds. */
const deadline = 60_000;

/** The result of a tool, as MCP has it. */
export type ToolResult = { content?: { type: string; text?: string }[]; structuredContent?: unknown; isError?: boolean };

/** What a host says about itself. It may send a part of it again when that changes. */
export type HostContext = { theme?: "light" | "dark"; containerDimensions?: { height?: number; maxHeight?: number } };

type Message = { jsonrpc: "2.0"; id?: number | string; method?: string; params?: unknown; result?: unknown; error?: { code: number; message: string } };

export type Handlers = {
  /** The arguments of the call that the page is shown for. */
  input: (given: Record<string, unknown>) => void;
  result: (result: ToolResult) => void;
  cancelled: () => void;
  context: (part: HostContext) => void;
};

export type Host = {
  /** Calls a tool of the server, if the host passes calls on. */
  call: ((tool: string, given: Record<string, unknown>) => Promise<ToolResult>) | undefined;
};

/** Connects to the host. Call it once. It fails where the host refuses, or does not answer. */
export async function connect(on: Handlers): Promise<Host> {
  const waiting = new Map<number | string, { done: (result: unknown) => void; failed: (why: Error) => void }>();
  let last = 0;
  // The address of the host is not known, and nothing that is sent is a secret.
  const send = (message: Omit<Message, "jsonrpc">) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const ask = (method: string, params: unknown) => new Promise<unknown>((done, failed) => {
    const id = ++last;
    const timer = setTimeout(() => end(() => failed(new Error("The host did not answer."))), deadline);
    const end = (call: () => void) => { clearTimeout(timer); waiting.delete(id); call(); };
    waiting.set(id, { done: (result) => end(() => done(result)), failed: (why) => end(() => failed(why)) });
    send({ id, method, params });
  });
  const told: Record<string, (params: never) => void> = {
    "ui/notifications/tool-input": (params: { arguments?: Record<string, unknown> }) => on.input(params.arguments ?? {}),
    "ui/notifications/tool-result": on.result,
    "ui/notifications/tool-cancelled": on.cancelled,
    "ui/notifications/host-context-changed": on.context,
  };
  addEventListener("message", (event: MessageEvent<Message | null>) => {
    const message = event.data;
    if (event.source !== parent || typeof message !== "object" || message?.jsonrpc !== "2.0") return;
    if (message.method === undefined) {
      const asked = waiting.get(message.id ?? "");
      if (message.error) asked?.failed(new Error(message.error.message));
      else asked?.done(message.result);
    } else if (message.id === undefined) {
      told[message.method]?.((message.params ?? {}) as never);
    } else if (message.method === "ping" || message.method === "ui/resource-teardown") {
      send({ id: message.id, result: {} });
    } else {
      send({ id: message.id, error: { code: -32601, message: "Method not found" } });
    }
  });
  const answer = (await ask("ui/initialize", {
    protocolVersion: protocol, appInfo: { name: "scrollery", version: "1" }, appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
  })) as { hostCapabilities?: { serverTools?: object }; hostContext?: HostContext } | undefined;
  on.context(answer?.hostContext ?? {});
  send({ method: "ui/notifications/initialized", params: {} });
  followSize((width, height) => send({ method: "ui/notifications/size-changed", params: { width, height } }));
  const call = async (name: string, given: Record<string, unknown>) => (await ask("tools/call", { name, arguments: given })) as ToolResult;
  return { call: answer?.hostCapabilities?.serverTools ? call : undefined };
}

/** Reports the size of the document now and whenever it changes. */
function followSize(report: (width: number, height: number) => void): void {
  let known = "";
  new ResizeObserver(() => {
    const { scrollWidth } = document.documentElement;
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    if (known === (known = `${scrollWidth} ${height}`)) return;
    report(scrollWidth, height);
  }).observe(document.body);
}

/** The JSON of a result: its structured content, or its text. A refusal is thrown with its message. */
export function read(result: ToolResult): Record<string, unknown> {
  const text = result.content?.find((part) => part.type === "text")?.text;
  const value = objectOf(result.structuredContent ?? parse(text ?? ""));
  if (result.isError || !value) throw new Error(typeof value?.message === "string" ? value.message : "The answer could not be read.");
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Answers are not typed here: a page takes what it finds.
export const objectOf = (value: unknown) => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined);
export const listOf = (value: unknown) => (Array.isArray(value) ? value.map((item) => objectOf(item) ?? {}) : []);
export const numberOf = (value: unknown) => (typeof value === "number" ? value : undefined);
export const textOf = (value: unknown) => (typeof value === "string" ? value : "");
