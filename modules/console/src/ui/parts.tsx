// Small parts that every page uses.
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n/t";
import { announce } from "../shell/announce";
import { cameFrom, moved, navigate, refocuses, subject } from "../shell/router";

/** The heading of a page. It names the document and takes the focus when the person moved here. */
export function PageHead({ title, lead, children }: { title: string; lead?: string; children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = [title, subject.value, "Scrollery"].filter(Boolean).join(" · ");
  }, [title, subject.value]);
  useEffect(() => {
    if (moved.value && !refocuses()) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <header class="page-head">
      <div>
        <h1 ref={heading} tabIndex={-1}>{title}</h1>
        {lead && <p class="lead">{lead}</p>}
      </div>
      {children && <div class="row">{children}</div>}
    </header>
  );
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { href: string; class?: string; "aria-current"?: "page" | undefined };

/** Does a thing at a click on a link, unless the click asks for another tab or a file. */
const instead = (act: () => void) => (event: MouseEvent) => {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  act();
};

/** A link inside the console: no new document is loaded. */
export function Link({ href, children, ...rest }: LinkProps) {
  return (
    <a href={href} onClick={instead(() => navigate(href))} {...rest}>
      {children}
    </a>
  );
}

/** A link to the list that a page belongs to: as it was left, if the person came from there. */
export function Back({ href, children }: { href: string; children: ComponentChildren }) {
  return <a class="back" href={href} onClick={instead(() => (cameFrom(href) ? history.back() : navigate(href)))}>← {children}</a>;
}

const hosts = ["youtube.com", "youtu.be", "tiktok.com", "instagram.com"];

/** Whether an address may be opened: https, on a host of the platforms. */
export function isPlatform(address: string): boolean {
  try {
    const url = new URL(address);
    return url.protocol === "https:" && !url.username && hosts.some((host) => url.hostname === host || url.hostname.endsWith(`.${host}`));
  } catch {
    return false;
  }
}

/** A link to a video on its platform. Other addresses are shown as text. */
export function Out({ address, children }: { address: string; children: ComponentChildren }) {
  if (!isPlatform(address)) return <span class="address" title={address}><bdi>{address}</bdi></span>;
  return <a href={address} target="_blank" rel="noopener noreferrer nofollow">{children}</a>;
}

/** Text of creators, cut to some lines: it is shown as it is, in its own direction, and never as markup. */
export function Quote({ text, lines = 3 }: { text: string; lines?: number }) {
  return <bdi class="quote" data-lines={lines}>{text.length > 2000 ? `${text.slice(0, 2000)}…` : text}</bdi>;
}

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  kind?: "primary" | "quiet" | "danger";
  busy?: boolean;
  type?: "button" | "submit";
  disabled?: boolean;
};

export function Button({ kind, busy, type = "button", disabled, children, ...rest }: ButtonProps) {
  return (
    <button type={type} class={`button ${kind ?? ""}`} disabled={disabled || busy} aria-busy={busy} {...rest}>
      {children}
    </button>
  );
}

/** Copies a text and says so. */
export function Copy({ text, label }: { text: string; label?: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      announce(t("copy.failed"));
      return;
    }
    announce(t("copy.done"));
    setDone(true);
    setTimeout(() => setDone(false), 2000);
  };
  return <Button onClick={copy}>{done ? t("copy.done") : (label ?? t("copy.do"))}</Button>;
}

export function Card({ title, aside, children, wide }: { title?: string; aside?: ComponentChildren; children: ComponentChildren; wide?: boolean }) {
  return (
    <section class={wide ? "card wide" : "card"} aria-label={title}>
      {title && (
        <div class="card-head">
          <h2>{title}</h2>
          {aside}
        </div>
      )}
      {children}
    </section>
  );
}

export type Tone = "good" | "warn" | "bad" | "info" | "plain";

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

type FieldProps = { label: string; hint?: string; mistake?: string; children: (ids: { id: string; "aria-describedby"?: string; "aria-invalid"?: boolean }) => ComponentChildren };

let fields = 0;

/** A labelled field with its hint and its mistake; the input gets the ids that connect them. */
export function Field({ label, hint, mistake, children }: FieldProps) {
  const [id] = useState(() => `field-${++fields}`);
  const described = [hint && `${id}-hint`, mistake && `${id}-mistake`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint && <p class="hint" id={`${id}-hint`}>{hint}</p>}
      {children({ id, "aria-describedby": described || undefined, "aria-invalid": mistake ? true : undefined })}
      {mistake && <p class="mistake" id={`${id}-mistake`} role="alert">{mistake}</p>}
    </div>
  );
}

/** How far something is, from 0 to 100. */
export function Progress({ value, label }: { value: number; label: string }) {
  return <progress class="bar" max={100} value={value} aria-label={label}>{Math.round(value)} %</progress>;
}
