package com.sightline.client;

/**
 * What a client has done, and holds now.
 *
 * @param pending events without a final verdict
 * @param pendingBytes their bytes
 * @param settled events with a final verdict
 * @param streams streams that were opened
 * @param sentAgain requests that went into one more stream
 */
public record Stats(int pending, long pendingBytes, long settled, long streams, long sentAgain) { }
