// "Save": it puts videos into a collection, from wherever they are shown.
import { useState } from "preact/hooks";
import { t } from "../i18n/t";
import { SaveTo } from "../pages/later";
import { Dialog } from "./dialog";
import { Button } from "./parts";
import type { Shared } from "./share";

type Props = {
  /** Ids of videos. */
  videos: string[];
  /** What the button says instead of "Save". */
  label?: string;
  /** What is saved, for those who do not see where the button stands. */
  name?: string;
  /** A mark in the corner of a card. */
  small?: boolean;
  /** What can be shared once it is saved; else the collection. */
  share?: Shared;
  done?: () => void;
};

export function Save({ videos, label, name, small, share, done }: Props) {
  const [open, setOpen] = useState(false);
  const close = (saved: boolean) => {
    setOpen(false);
    if (saved) done?.();
  };
  const named = name && t("save.named", { name: name.slice(0, 60) });
  return (
    <>
      {small
        ? <button type="button" class="save-mark" aria-label={named} title={t("save.title")} onClick={() => setOpen(true)}>+</button>
        : <Button onClick={() => setOpen(true)} aria-label={named}>{label ?? t("save.do")}</Button>}
      {open && <Dialog title={t("save.title")} onClose={() => close(false)}><SaveTo videos={videos} share={share} close={close} /></Dialog>}
    </>
  );
}
