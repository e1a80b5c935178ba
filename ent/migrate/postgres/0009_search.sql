-- +goose Up
-- The words of each video, for searches. No entity of Ent: only hot statements use these tables.
CREATE TABLE "video_terms" ("id" bigint NOT NULL PRIMARY KEY, "account_id" bigint NOT NULL, "terms" text NOT NULL);
-- The index of the words: the account, _ and the word.
CREATE INDEX "video_words" ON "video_terms" USING gin (array_to_tsvector(string_to_array(
  CAST("account_id" AS text) || '_' || replace(btrim("terms"), ' ', ' ' || CAST("account_id" AS text) || '_'), ' '))) WITH (fastupdate = off);
-- +goose StatementBegin
CREATE FUNCTION "video_docs_deleted"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM "video_terms" WHERE "id" = OLD."id" AND "account_id" = OLD."account_id";
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER "video_docs_deleted" AFTER DELETE ON "video_docs" FOR EACH ROW EXECUTE FUNCTION "video_docs_deleted"();
-- Libraries that have videos without words, and the last video that got its words.
CREATE TABLE "unindexed_libraries" ("account_id" bigint NOT NULL PRIMARY KEY, "platform" text NOT NULL, "external_id" text NOT NULL);
INSERT INTO "unindexed_libraries" SELECT "account_id", '', '' FROM "libraries";
