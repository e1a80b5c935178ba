-- +goose Up
-- drop index "video_account_id_archived_outlier_order" from table: "videos"
DROP INDEX "video_account_id_archived_outlier_order";
