// Parts that show a scroll, on its own page and on others.
import { word } from "../i18n/t";
import { Badge, type Tone } from "../ui/parts";

const tones: Record<string, Tone> = { queued: "plain", running: "info", completed: "good", failed: "bad", cancelled: "warn" };

export function StatusBadge({ status }: { status: string }) {
  return <Badge tone={tones[status] ?? "plain"}>{word("status", status)}</Badge>;
}
