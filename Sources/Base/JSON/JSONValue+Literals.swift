// Values as they stand in code, for documents that the program itself writes.

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string.
    package init(stringLiteral text: String) { self = .string(text) }

    /// An integer.
    package init(integerLiteral integer: Int64) { self = .integer(integer) }

    /// A boolean.
    package init(booleanLiteral flag: Bool) { self = .bool(flag) }

    /// An array.
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// An object; of a name that occurs twice the last value counts.
    package init(dictionaryLiteral members: (String, JSONValue)...) {
        var object = JSONObject()
        for (name, value) in members { object[name] = value }
        self = .object(object)
    }
}
