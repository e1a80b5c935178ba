// A video in the player of its platform. Nothing is asked of the platform before a person
// presses the button, and the address is made from the platform and the id alone: what a
// source or a creator wrote is never loaded.
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import type { Video } from "../../gen/scrollery/v1/library_pb";
import { t, word } from "../i18n/t";
import { Button } from "./parts";
import { nameOf } from "./video";

const storageKey = "scrollery.players";

/** Whether this browser may show players; a person turns it off in the account. */
export const players = signal(localStorage.getItem(storageKey) !== "off");

export function allowPlayers(yes: boolean): void {
  players.value = yes;
  localStorage.setItem(storageKey, yes ? "on" : "off");
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Instagram's short code of a media id, in base 64. */
function shortCode(id: string): string {
  let left = BigInt(id);
  let code = "";
  for (; left > 0n; left /= 64n) code = alphabet[Number(left % 64n)] + code;
  return code;
}

/** The address of a platform's own player; empty where the id is none of its ids. */
export function playerOf(platform: string, id: string): string {
  if (platform === "youtube" && /^[\w-]{11}$/.test(id)) return `https://www.youtube-nocookie.com/embed/${id}`;
  if (platform === "tiktok" && /^\d{15,21}$/.test(id)) return `https://www.tiktok.com/player/v1/${id}`;
  if (platform !== "instagram") return "";
  const media = /^(\d{15,21})(_\d+)?$/.exec(id)?.[1];
  if (media) return `https://www.instagram.com/p/${shortCode(media)}/embed`;
  return /^[\w-]{8,14}$/.test(id) ? `https://www.instagram.com/p/${id}/embed` : "";
}

/** The button, and after it the player. */
export function PlayHere({ video }: { video: Video }) {
  const [open, setOpen] = useState(false);
  const address = playerOf(video.platform, video.externalId);
  if (!address || !players.value) return null;
  const platform = word("platform", video.platform);
  if (!open) {
    return (
      <div class="stack">
        <div class="row"><Button onClick={() => setOpen(true)}>{t("play.here")}</Button></div>
        <p class="hint">{t("play.learns", { platform })}</p>
      </div>
    );
  }
  return (
    <div class="stack">
      <iframe
        class={video.platform === "youtube" ? "player wide" : "player"} src={address} title={t("play.title", { platform, name: nameOf(video).slice(0, 120) })}
        sandbox="allow-scripts allow-same-origin allow-presentation" referrerpolicy="strict-origin" allow="fullscreen; encrypted-media" loading="lazy"
      />
      <div class="row"><Button kind="quiet" onClick={() => setOpen(false)}>{t("play.close")}</Button></div>
    </div>
  );
}
