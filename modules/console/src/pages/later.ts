// What the first page does not need: each is loaded with its group.
import { lazy } from "../ui/lazy";

const results = () => import("../results");
const setup = () => import("../setup");

export const Creators = lazy(async () => (await results()).Creators, { title: "table.creator" });
export const Hooks = lazy(async () => (await results()).Hooks, { title: "nav.hooks" });
export const Library = lazy(async () => (await results()).Library, { title: "nav.library" });
export const Outliers = lazy(async () => (await results()).Outliers, { title: "nav.outliers" });
export const Trends = lazy(async () => (await results()).Trends, { title: "nav.trends" });

export const BriefPage = lazy(async () => (await setup()).BriefPage, { title: "nav.brief" });
export const Claim = lazy(async () => (await setup()).Claim, { title: "claim.title" });
/** Stands below what one came for: nothing is in its place while it is loaded. */
export const ImportFile = lazy(async () => (await setup()).ImportFile, { lines: 0 });
export const RulesPage = lazy(async () => (await setup()).RulesPage, { title: "nav.rules" });
export const ScrollPage = lazy(async () => (await setup()).ScrollPage, { title: "nav.scroll" });
export const Steps = lazy(async () => (await setup()).Steps);
export const Subscribe = lazy(async () => (await setup()).Subscribe, { title: "subscribe.title" });
export const Watch = lazy(async () => (await setup()).Watch);

const collections = () => import("../collections");

export const Collections = lazy(async () => (await collections()).Collections, { title: "nav.collections" });
/** These stand in dialogs, which have their own titles. */
export const SaveTo = lazy(async () => (await collections()).SaveTo);
export const ShareForm = lazy(async () => (await collections()).ShareForm);

const clients = () => import("../clients");

/** Stands in a dialog. */
export const Clients = lazy(async () => (await clients()).Clients);
export const Compare = lazy(async () => (await clients()).Compare, { title: "nav.compare" });
export const Report = lazy(async () => (await clients()).Report, { title: "nav.report" });

export const Account = lazy(async () => (await import("./account")).Account, { title: "nav.account" });
