// The texts of the operator's page, in both languages. They are not in the console's script.
import { language } from "../shell/preferences";
import { number } from "../i18n/format";

const texts = {
  title: { en: "Operator", de: "Betrieb" },
  lead: { en: "What this installation does now. Nothing can be changed here.", de: "Was diese Installation gerade tut. Hier lässt sich nichts ändern." },
  updated: { en: "Read {when}. Version {version}, roles {roles}.", de: "Gelesen {when}. Version {version}, Rollen {roles}." },
  loading: { en: "Reading", de: "Wird gelesen" },
  out: { en: "Sign in with a link", de: "Mit einem Link anmelden" },
  outText: { en: "Run this on the machine of the server. The link that it prints works once, for ten minutes.", de: "Führen Sie dies auf dem Rechner des Servers aus. Der ausgegebene Link gilt einmal und zehn Minuten lang." },
  refused: { en: "This link was used, is too old, or is of another server.", de: "Dieser Link wurde benutzt, ist zu alt oder gehört zu einem anderen Server." },
  away: { en: "The server does not answer. This page tries again by itself; what is shown is from before.", de: "Der Server antwortet nicht. Die Seite versucht es von selbst wieder; gezeigt wird der Stand von vorher." },
  leave: { en: "Sign out", de: "Abmelden" },
  waiting: { en: "Jobs waiting", de: "Wartende Aufgaben" },
  running: { en: "Scrolls running", de: "Laufende Scrolls" },
  queued: { en: "Scrolls queued", de: "Wartende Scrolls" },
  connections: { en: "Connections in use", de: "Verbindungen in Benutzung" },
  ofMax: { en: "{n} of {max}", de: "{n} von {max}" },
  queue: { en: "Queue", de: "Warteschlange" },
  noQueue: { en: "No job waits.", de: "Keine Aufgabe wartet." },
  kind: { en: "Kind", de: "Art" },
  jobs: { en: "Jobs", de: "Aufgaben" },
  oldest: { en: "Oldest", de: "Älteste" },
  scroll: { en: "Scroll", de: "Scroll" },
  account: { en: "Account", de: "Konto" },
  step: { en: "Step", de: "Schritt" },
  starts: { en: "Starts", de: "Starts" },
  begun: { en: "Created", de: "Angelegt" },
  heartbeat: { en: "Heartbeat", de: "Lebenszeichen" },
  noScrolls: { en: "No scroll runs or waits.", de: "Kein Scroll läuft oder wartet." },
  state: { en: "State", de: "Zustand" },
  isRunning: { en: "Running", de: "Läuft" },
  isQueued: { en: "Queued", de: "Wartet" },
  quotas: { en: "Sources and quotas", de: "Quellen und Kontingente" },
  noQuotas: { en: "No source has a quota.", de: "Keine Quelle hat ein Kontingent." },
  source: { en: "Source", de: "Quelle" },
  quota: { en: "Quota", de: "Kontingent" },
  used: { en: "Used", de: "Verbraucht" },
  limit: { en: "Limit", de: "Grenze" },
  window: { en: "Window", de: "Zeitraum" },
  renews: { en: "Renewed", de: "Erneuert" },
  tenantsOf: { en: "Accounts", de: "Konten" },
  plugins: { en: "Plugins", de: "Plugins" },
  plugin: { en: "Plugin", de: "Plugin" },
  version: { en: "Version", de: "Version" },
  origin: { en: "Origin", de: "Herkunft" },
  builtin: { en: "built in", de: "eingebaut" },
  external: { en: "external", de: "extern" },
  tenants: { en: "Accounts by load today", de: "Konten nach Last heute" },
  noTenants: { en: "No account spent anything today.", de: "Heute hat kein Konto etwas verbraucht." },
  units: { en: "Units", de: "Einheiten" },
  failures: { en: "Scrolls that failed last", de: "Zuletzt fehlgeschlagene Scrolls" },
  noFailures: { en: "No scroll failed.", de: "Kein Scroll ist fehlgeschlagen." },
  failure: { en: "Failure", de: "Fehler" },
  none: { en: "–", de: "–" },
} as const;

/** A text in the language of the page, with its values. */
export function say(key: keyof typeof texts, values: Record<string, string | number> = {}): string {
  return texts[key][language.value].replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? "";
    return typeof value === "number" ? number(value) : value;
  });
}
