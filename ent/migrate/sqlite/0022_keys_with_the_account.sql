-- +goose Up
-- drop index "scrollrecord_scroll_id_platform_external_id" from table: "scroll_records"
DROP INDEX `scrollrecord_scroll_id_platform_external_id`;
-- drop index "scrollrecord_scroll_id_dropped_by_rank_id" from table: "scroll_records"
DROP INDEX `scrollrecord_scroll_id_dropped_by_rank_id`;
-- create index "scrollrecord_account_id_scroll_id_platform_external_id" to table: "scroll_records"
CREATE UNIQUE INDEX `scrollrecord_account_id_scroll_id_platform_external_id` ON `scroll_records` (`account_id`, `scroll_id`, `platform`, `external_id`);
-- create index "scrollrecord_account_id_scroll_id_dropped_by_rank_id" to table: "scroll_records"
CREATE INDEX `scrollrecord_account_id_scroll_id_dropped_by_rank_id` ON `scroll_records` (`account_id`, `scroll_id`, `dropped_by`, `rank`, `id`);
