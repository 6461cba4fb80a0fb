// What is in a topic, read through the C library.
internal import CRdKafka
internal import Foundation
internal import Testing

/// Reads a topic from its beginning.
package struct TestTopic {
    /// A message as the brokers have it.
    package struct Message {
        package let partition: Int32
        package let key: String
        package let value: [UInt8]
        package let headers: [(name: String, value: String)]

        package var hitID: String? { self.headers.first { $0.name == "ce-id" }?.value }
    }

    package let brokers: String
    package let name: String
    package var partitions: Int32 = 1

    package init(brokers: String, name: String, partitions: Int32 = 1) {
        self.brokers = brokers
        self.name = name
        self.partitions = partitions
    }

    /// All of its messages, by partition in their order.
    package func messages() throws -> [Message] {
        let conf = try #require(rd_kafka_conf_new())
        for (key, value) in [
            ("bootstrap.servers", self.brokers), ("group.id", "test"), ("log_level", "0"),
            ("enable.partition.eof", "true"), ("auto.offset.reset", "earliest"),
            ("enable.auto.commit", "false"),
        ] { try #require(rd_kafka_conf_set(conf, key, value, nil, 0) == RD_KAFKA_CONF_OK) }
        let consumer = try #require(rd_kafka_new(RD_KAFKA_CONSUMER, conf, nil, 0))
        defer { rd_kafka_destroy(consumer) }
        rd_kafka_poll_set_consumer(consumer)
        let list = try #require(rd_kafka_topic_partition_list_new(self.partitions))
        defer { rd_kafka_topic_partition_list_destroy(list) }
        for partition in 0..<self.partitions {
            let place = rd_kafka_topic_partition_list_add(list, self.name, partition)
            place?.pointee.offset = Int64(RD_KAFKA_OFFSET_BEGINNING)
        }
        try #require(rd_kafka_assign(consumer, list) == RD_KAFKA_RESP_ERR_NO_ERROR)
        return try self.read(consumer)
    }

    private func read(_ consumer: OpaquePointer) throws -> [Message] {
        var messages: [Message] = []
        var ends: Set<Int32> = []
        let deadline = ContinuousClock.now + .seconds(60)
        while ends.count < self.partitions {
            try #require(.now < deadline, "topic \(self.name) has no end after 60 s")
            guard let message = rd_kafka_consumer_poll(consumer, 100) else { continue }
            defer { rd_kafka_message_destroy(message) }
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_NO_ERROR: messages.append(Self.message(message))
            case RD_KAFKA_RESP_ERR__PARTITION_EOF: ends.insert(message.pointee.partition)
            default: continue
            }
        }
        return messages.enumerated().sorted {
            ($0.element.partition, $0.offset) < ($1.element.partition, $1.offset)
        }.map(\.element)
    }

    private static func message(_ message: UnsafeMutablePointer<rd_kafka_message_t>) -> Message {
        var headers: OpaquePointer?
        var list: [(String, String)] = []
        if rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR {
            var (name, value, size) = (UnsafePointer<CChar>?.none, UnsafeRawPointer?.none, 0)
            while rd_kafka_header_get_all(headers, list.count, &name, &value, &size)
                == RD_KAFKA_RESP_ERR_NO_ERROR
            {
                let bytes = UnsafeRawBufferPointer(start: value, count: size)
                list.append(
                    (name.map { String(cString: $0) } ?? "", String(decoding: bytes, as: UTF8.self))
                )
            }
        }
        let key = UnsafeRawBufferPointer(start: message.pointee.key, count: message.pointee.key_len)
        let value = UnsafeRawBufferPointer(
            start: message.pointee.payload, count: message.pointee.len)
        return Message(
            partition: message.pointee.partition, key: String(decoding: key, as: UTF8.self),
            value: [UInt8](value), headers: list.map { (name: $0.0, value: $0.1) })
    }
}
