package io.sparkconfig.redaction.engine

import java.util.ArrayList

/** Patterns without two letters or digits in a row, by their first characters. */
private[redaction] final class Trie {
  private final class Node {
    val children = new java.util.TreeMap[Integer, Node]()
    val leaves = new ArrayList[Integer]()
  }
  private val root = new Node
  private val firsts = new java.util.BitSet(128)

  /** By the low byte of a character whether [[mayStart]] is to be asked. */
  val starts = new Array[Boolean](256)
  def used: Boolean = !root.children.isEmpty

  def add(text: String, pattern: Int): Unit = {
    var node = root
    var i = 0
    while (i < text.length && i < Trie.Depth) {
      val cp = text.codePointAt(i)
      node = node.children.computeIfAbsent(cp, _ => new Node)
      i += Character.charCount(cp)
    }
    node.leaves.add(pattern)
    val first = text.codePointAt(0)
    addStart(text.charAt(0))
    if (!Readings.isAlnum(first)) Seq('\\', '&', '%', '+').foreach(addStart)
  }

  private def addStart(c: Char): Unit = { firsts.set(c.toInt); starts(c & 0xff) = true }

  def mayStart(c: Char): Boolean = firsts.get(c.toInt)

  /** Calls `visit` with every pattern whose first characters may be read from `p` on. */
  def walk(readings: Readings, p: Int)(visit: Int => Unit): Unit = descend(root, readings, p)(visit)

  private def descend(node: Node, readings: Readings, p: Int)(visit: Int => Unit): Unit = {
    node.leaves.forEach(i => visit(i))
    val children = node.children.entrySet().iterator()
    while (children.hasNext) {
      val child = children.next()
      val cp: Int = child.getKey
      if (Readings.isAlnum(cp)) { if (readings.isAt(p, cp)) descend(child.getValue, readings, p + 1)(visit) }
      else {
        val ends = new Positions
        if (node eq root) readings.ends(p, cp, Readings.Depth, ends) else readings.endsInside(p, cp, ends)
        var k = 0
        while (k < ends.size) { descend(child.getValue, readings, ends(k))(visit); k += 1 }
      }
    }
  }
}

private[redaction] object Trie {
  val Depth = 12
}
