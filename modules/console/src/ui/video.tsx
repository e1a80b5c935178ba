// A video in a line: its caption, who made it, where and when. All of it is text.
import type { JsonObject } from "@bufbuild/protobuf";
import type { Video } from "../../gen/scrollery/v1/library_pb";
import { date } from "../i18n/format";
import { word } from "../i18n/t";
import { to } from "../shell/router";
import { Link, Out, Quote, isPlatform } from "./parts";

/** A member of a video's metadata if it is a text. */
export function textOf(metadata: JsonObject | undefined, name: string): string {
  const value = metadata?.[name];
  return typeof value === "string" ? value : "";
}

/** What a video without a caption is called: by whom it is, and of when. */
export function nameless(by: string, postedAt: number | undefined): string {
  return postedAt === undefined ? by : `${by}, ${date(postedAt)}`;
}

/** What a video is called: its title or its caption, and without a word in it who made it and when. */
export function nameOf(video: Video): string {
  const text = textOf(video.metadata, "title") || textOf(video.metadata, "caption");
  if (/[\p{L}\p{N}]{2}/u.test(text)) return text;
  const handle = video.source?.handle?.replace(/^@/, "").slice(0, 80);
  return [text.trim(), nameless(handle ? `@${handle}` : word("platform", video.platform), video.postedAt)].filter(Boolean).join(" ");
}

/** The longest handle that the API takes. */
const longestHandle = 200;

/** `here`: the page is the creator's, so it has no link to itself. */
export function Byline({ video, here }: { video: Video; here?: boolean }) {
  const posted = video.postedAt;
  const handle = video.source?.handle?.replace(/^@/, "") ?? "";
  const name = <bdi>@{handle.slice(0, 80)}</bdi>;
  return (
    <span class="byline">
      {handle && (here || handle.length > longestHandle ? name : <Link href={to("creators", video.platform, handle)}>{name}</Link>)}
      {isPlatform(video.sourceUrl) ? <span><Out address={video.sourceUrl}>{word("platform", video.platform)} ↗</Out></span> : <span>{word("platform", video.platform)}</span>}
      {video.source && <span>{word("kind", video.source.kind)}</span>}
      {posted !== undefined && <time dateTime={new Date(posted).toISOString()}>{date(posted)}</time>}
    </span>
  );
}

export function Name({ video, lines = 2 }: { video: Video; lines?: number }) {
  return <Quote text={nameOf(video)} lines={lines} />;
}
