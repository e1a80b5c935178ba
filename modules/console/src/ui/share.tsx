// "Share": it makes a public page of a video, a collection or a finding.
import { useState } from "preact/hooks";
import { t } from "../i18n/t";
import { ShareForm } from "../pages/later";
import { Dialog } from "./dialog";
import { Button } from "./parts";

/** What is shared, and the heading that its page gets unless the person changes it. */
export type Shared =
  | { kind: "video"; id: string; title: string }
  | { kind: "collection"; id: string; title: string; videos: number }
  | { kind: "finding" | "brief" | "report"; title: string; sentences: string[]; videoIds: string[] };

export function Share({ of, name, disabled }: { of: Shared; name?: string; disabled?: boolean }) {
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button disabled={disabled} onClick={() => setOpen(true)} aria-label={name && t("share.named", { name: name.slice(0, 60) })}>{t("share.do")}</Button>
      {open && <Dialog title={t("share.title")} onClose={close}><ShareForm of={of} close={close} /></Dialog>}
    </>
  );
}
