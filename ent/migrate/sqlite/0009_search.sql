-- +goose Up
-- The words of each video, for searches. No entity of Ent: only hot statements use these tables.
CREATE TABLE `video_terms` (`id` integer NOT NULL PRIMARY KEY, `account_id` integer NOT NULL, `terms` text NOT NULL);
-- The index of the words: the account, _ and the word. It holds no text.
CREATE VIRTUAL TABLE `video_words` USING fts5(terms, content='', contentless_delete=1, detail=none, tokenize="ascii tokenchars '_#@~!'");
-- +goose StatementBegin
CREATE TRIGGER `video_terms_added` AFTER INSERT ON `video_terms` BEGIN
  INSERT INTO video_words(rowid, terms) VALUES (new.id, new.account_id || '_' || replace(trim(new.terms), ' ', ' ' || new.account_id || '_'));
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER `video_terms_changed` AFTER UPDATE ON `video_terms` BEGIN
  DELETE FROM video_words WHERE rowid = old.id;
  INSERT INTO video_words(rowid, terms) VALUES (new.id, new.account_id || '_' || replace(trim(new.terms), ' ', ' ' || new.account_id || '_'));
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER `video_terms_deleted` AFTER DELETE ON `video_terms` BEGIN
  DELETE FROM video_words WHERE rowid = old.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER `video_docs_deleted` AFTER DELETE ON `video_docs` BEGIN
  DELETE FROM video_terms WHERE id = old.id;
END;
-- +goose StatementEnd
-- Libraries that have videos without words, and the last video that got its words.
CREATE TABLE `unindexed_libraries` (`account_id` integer NOT NULL PRIMARY KEY, `platform` text NOT NULL, `external_id` text NOT NULL);
INSERT INTO `unindexed_libraries` SELECT `account_id`, '', '' FROM `libraries`;
