<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
  <context>
    <name>Studio</name>
    <message>
      <source>	Ctrl+F10</source>
      <translation>	Strg+F10</translation>
    </message>
    <message>
      <source>	Ctrl+Return</source>
      <translation>	Strg+Eingabe</translation>
    </message>
    <message>
      <source>	Ctrl+Shift+Return</source>
      <translation>	Strg+Umschalt+Eingabe</translation>
    </message>
    <message>
      <source>
Right-click to set a breakpoint or to run to this point.</source>
      <translation>
Mit der rechten Maustaste: Haltepunkt setzen oder bis hierher ausführen.</translation>
    </message>
    <message>
      <source>   hit {count}×</source>
      <translation>   {count}× getroffen</translation>
    </message>
    <message>
      <source> (try {number})</source>
      <translation> (Versuch {number})</translation>
    </message>
    <message>
      <source> ({row} of {count})</source>
      <translation> ({row} von {count})</translation>
    </message>
    <message>
      <source> ({selected} selected)</source>
      <translation> ({selected} ausgewählt)</translation>
    </message>
    <message>
      <source> 1 cell has no answer.</source>
      <translation> 1 Zelle hat keine Antwort.</translation>
    </message>
    <message>
      <source> Commands</source>
      <translation> Befehle</translation>
    </message>
    <message>
      <source> Its stored key is deleted as well.</source>
      <translation> Ihr gespeicherter Schlüssel wird auch gelöscht.</translation>
    </message>
    <message>
      <source> KB</source>
      <translation> KB</translation>
    </message>
    <message>
      <source> MB</source>
      <translation> MB</translation>
    </message>
    <message>
      <source> Step</source>
      <translation> Schritt</translation>
    </message>
    <message>
      <source> The key store was not used: {reason}.</source>
      <translation> Der Schlüsselspeicher wurde nicht benutzt: {reason}.</translation>
    </message>
    <message>
      <source> The last good preview is shown.</source>
      <translation> Die letzte gute Vorschau wird gezeigt.</translation>
    </message>
    <message>
      <source> US cents</source>
      <translation> US-Cent</translation>
    </message>
    <message>
      <source> days</source>
      <translation> Tage</translation>
    </message>
    <message>
      <source> from #{parent}</source>
      <translation> aus #{parent}</translation>
    </message>
    <message>
      <source> in iteration {step}, at “{title}”</source>
      <translation> in Durchgang {step}, bei „{title}“</translation>
    </message>
    <message>
      <source> in {duration}</source>
      <translation> in {duration}</translation>
    </message>
    <message>
      <source> or null</source>
      <translation> oder null</translation>
    </message>
    <message>
      <source> pt</source>
      <translation> pt</translation>
    </message>
    <message>
      <source> runs</source>
      <translation> Läufe</translation>
    </message>
    <message>
      <source> s</source>
      <translation> s</translation>
    </message>
    <message>
      <source> tokens</source>
      <translation> Token</translation>
    </message>
    <message>
      <source> with BOM</source>
      <translation> mit BOM</translation>
    </message>
    <message>
      <source> {count} cells have no answer.</source>
      <translation> {count} Zellen haben keine Antwort.</translation>
    </message>
    <message>
      <source> · best {score}</source>
      <translation> · bester {score}</translation>
    </message>
    <message>
      <source> · edited by you</source>
      <translation> · von Ihnen bearbeitet</translation>
    </message>
    <message>
      <source> · running the unseen rows</source>
      <translation> · die ungesehenen Zeilen werden gefragt</translation>
    </message>
    <message>
      <source> · {given} given</source>
      <translation> · {given} angegeben</translation>
    </message>
    <message>
      <source> · {model} is used instead</source>
      <translation> · stattdessen wird {model} verwendet</translation>
    </message>
    <message>
      <source>$ per million in</source>
      <translation>$ je Million gesendet</translation>
    </message>
    <message>
      <source>$ per million out</source>
      <translation>$ je Million empfangen</translation>
    </message>
    <message>
      <source>&amp;Edit</source>
      <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
      <source>&amp;File</source>
      <translation>&amp;Datei</translation>
    </message>
    <message>
      <source>&amp;Go</source>
      <translation>&amp;Gehe zu</translation>
    </message>
    <message>
      <source>&amp;Help</source>
      <translation>&amp;Hilfe</translation>
    </message>
    <message>
      <source>&amp;Rewrite for</source>
      <translation>&amp;Umschreiben für</translation>
    </message>
    <message>
      <source>&amp;Run</source>
      <translation>&amp;Ausführen</translation>
    </message>
    <message>
      <source>&amp;Tools</source>
      <translation>&amp;Werkzeuge</translation>
    </message>
    <message>
      <source>&amp;View</source>
      <translation>&amp;Ansicht</translation>
    </message>
    <message>
      <source>(empty)</source>
      <translation>(leer)</translation>
    </message>
    <message>
      <source>(hidden value)</source>
      <translation>(ein Wert, der nicht gezeigt wird)</translation>
    </message>
    <message>
      <source>(no day)</source>
      <translation>(kein Tag)</translation>
    </message>
    <message>
      <source>(no model)</source>
      <translation>(kein Modell)</translation>
    </message>
    <message>
      <source>(no recording)</source>
      <translation>(keine Aufzeichnung)</translation>
    </message>
    <message>
      <source>(no tag)</source>
      <translation>(ohne Gruppe)</translation>
    </message>
    <message>
      <source>(none)</source>
      <translation>(keine)</translation>
    </message>
    <message>
      <source>(unnamed)</source>
      <translation>(ohne Namen)</translation>
    </message>
    <message>
      <source>, cut at the limit</source>
      <translation>, an der Grenze abgeschnitten</translation>
    </message>
    <message>
      <source>, only there now</source>
      <translation>, erst jetzt da</translation>
    </message>
    <message>
      <source>, required</source>
      <translation>, nötig</translation>
    </message>
    <message>
      <source>, with the key in the variable {variable}</source>
      <translation>, mit dem Schlüssel in der Variablen {variable}</translation>
    </message>
    <message>
      <source>1 call</source>
      <translation>1 Aufruf</translation>
    </message>
    <message>
      <source>1 cell run, {tokens:,} tokens, {cost}.</source>
      <translation>1 Zelle gefragt, {tokens:,} Tokens, {cost}.</translation>
    </message>
    <message>
      <source>1 changed line</source>
      <translation>1 geänderte Zeile</translation>
    </message>
    <message>
      <source>1 day is kept</source>
      <translation>1 Tag bleibt</translation>
    </message>
    <message>
      <source>1 differs, {same} the same</source>
      <translation>1 anders, {same} gleich</translation>
    </message>
    <message>
      <source>1 error</source>
      <translation>1 Fehler</translation>
    </message>
    <message>
      <source>1 hint</source>
      <translation>1 Hinweis</translation>
    </message>
    <message>
      <source>1 input</source>
      <translation>1 Eingabe</translation>
    </message>
    <message>
      <source>1 item</source>
      <translation>1 Eintrag</translation>
    </message>
    <message>
      <source>1 iteration</source>
      <translation>1 Durchgang</translation>
    </message>
    <message>
      <source>1 line</source>
      <translation>1 Zeile</translation>
    </message>
    <message>
      <source>1 match</source>
      <translation>1 Treffer</translation>
    </message>
    <message>
      <source>1 match in 1 file</source>
      <translation>1 Stelle in 1 Datei</translation>
    </message>
    <message>
      <source>1 message</source>
      <translation>1 Nachricht</translation>
    </message>
    <message>
      <source>1 message is shown in the preview.</source>
      <translation>1 Nachricht steht in der Vorschau.</translation>
    </message>
    <message>
      <source>1 missing</source>
      <translation>1 fehlt</translation>
    </message>
    <message>
      <source>1 note</source>
      <translation>1 Anmerkung</translation>
    </message>
    <message>
      <source>1 of these calls may have side effects.</source>
      <translation>1 dieser Aufrufe kann draußen etwas ändern.</translation>
    </message>
    <message>
      <source>1 of {names} lets a value change the structure of the messages.</source>
      <translation>1 von {names}: ein Wert kann den Aufbau der Nachrichten ändern.</translation>
    </message>
    <message>
      <source>1 old message left out</source>
      <translation>1 alte Nachricht weggelassen</translation>
    </message>
    <message>
      <source>1 recorded answer</source>
      <translation>1 aufgezeichnete Antwort</translation>
    </message>
    <message>
      <source>1 row</source>
      <translation>1 Zeile</translation>
    </message>
    <message>
      <source>1 row is read</source>
      <translation>1 Zeile ist gelesen</translation>
    </message>
    <message>
      <source>1 row was added to {name}.</source>
      <translation>1 Zeile ist zu {name} hinzugefügt.</translation>
    </message>
    <message>
      <source>1 run</source>
      <translation>1 Lauf</translation>
    </message>
    <message>
      <source>1 run is still running and was not deleted; stop it first</source>
      <translation>1 Lauf ist im Gang und blieb erhalten; halten Sie ihn zuerst an</translation>
    </message>
    <message>
      <source>1 run was deleted</source>
      <translation>1 Lauf wurde gelöscht</translation>
    </message>
    <message>
      <source>1 run was imported</source>
      <translation>1 Lauf wurde aufgenommen</translation>
    </message>
    <message>
      <source>1 sample</source>
      <translation>1 Beispiel</translation>
    </message>
    <message>
      <source>1 source has problems: {sources}.</source>
      <translation>1 Quelle hat Probleme: {sources}.</translation>
    </message>
    <message>
      <source>1 step</source>
      <translation>1 Schritt</translation>
    </message>
    <message>
      <source>1 text may be used.</source>
      <translation>1 Text darf verwendet werden.</translation>
    </message>
    <message>
      <source>1 text was proposed.</source>
      <translation>1 Text wurde vorgeschlagen.</translation>
    </message>
    <message>
      <source>1 text was proposed: {kept} scored, {refused} refused before it was sent.</source>
      <translation>1 Text wurde vorgeschlagen: {kept} bewertet, {refused} vor dem Senden abgelehnt.</translation>
    </message>
    <message>
      <source>1 token</source>
      <translation>1 Token</translation>
    </message>
    <message>
      <source>1 tool</source>
      <translation>1 Werkzeug</translation>
    </message>
    <message>
      <source>1 tool call was refused because it needs approval. Set `mocks:` for the tools in the file.</source>
      <translation>1 Werkzeugaufruf wurde abgelehnt: Er verlangt eine Freigabe. Beantworten Sie die Werkzeuge durch `mocks:` in der Datei.</translation>
    </message>
    <message>
      <source>1 training row, {choose} selection rows, {decide} unseen until the end.</source>
      <translation>1 Zeile zum Lernen, {choose} zum Auswählen, {decide} bis zum Ende ungesehen.</translation>
    </message>
    <message>
      <source>1 variant was added to {name}; run the experiment to compare.</source>
      <translation>1 Variante steht jetzt in {name}; führe das Experiment aus, um zu vergleichen.</translation>
    </message>
    <message>
      <source>1 warning</source>
      <translation>1 Warnung</translation>
    </message>
    <message>
      <source>1 worker.</source>
      <translation>1 Worker.</translation>
    </message>
    <message>
      <source>; contains values of {names}, so it asks first</source>
      <translation>; enthält Werte von {names}, fragt also zuerst</translation>
    </message>
    <message>
      <source>; next try in {time}</source>
      <translation>; nächster Versuch in {time}</translation>
    </message>
    <message>
      <source>; the model gets {count} characters</source>
      <translation>, davon bekommt das Modell {count} Zeichen</translation>
    </message>
    <message>
      <source>&lt;b&gt;{name}&lt;/b&gt; ({kind} tool)</source>
      <translation>&lt;b&gt;{name}&lt;/b&gt; (Werkzeug: {kind})</translation>
    </message>
    <message>
      <source>&lt;b&gt;{name}&lt;/b&gt; is not declared under &lt;code&gt;inputs&lt;/code&gt;</source>
      <translation>&lt;b&gt;{name}&lt;/b&gt; ist nicht unter &lt;code&gt;inputs&lt;/code&gt; deklariert</translation>
    </message>
    <message>
      <source>&lt;b&gt;{name}&lt;/b&gt;: a parameter of the run</source>
      <translation>&lt;b&gt;{name}&lt;/b&gt;: ein Parameter des Laufs</translation>
    </message>
    <message>
      <source>&lt;b&gt;{name}&lt;/b&gt;: no prompt of the experiment reads it</source>
      <translation>&lt;b&gt;{name}&lt;/b&gt;: kein Prompt des Experiments liest es</translation>
    </message>
    <message>
      <source>&lt;b&gt;{name}&lt;/b&gt;: used and not declared</source>
      <translation>&lt;b&gt;{name}&lt;/b&gt;: benutzt und nicht deklariert</translation>
    </message>
    <message>
      <source>&lt;br&gt;&lt;i&gt;Ctrl+. offers a fix&lt;/i&gt;</source>
      <translation>&lt;br&gt;&lt;i&gt;Strg+. bietet Abhilfe&lt;/i&gt;</translation>
    </message>
    <message>
      <source>&lt;br&gt;One of </source>
      <translation>&lt;br&gt;Eines von </translation>
    </message>
    <message>
      <source>A .jsonl file</source>
      <translation>Eine .jsonl-Datei</translation>
    </message>
    <message>
      <source>A JSON file</source>
      <translation>Eine JSON-Datei</translation>
    </message>
    <message>
      <source>A JSON list of replies; each is a text, or an object with text and tool_calls.</source>
      <translation>Eine JSON-Liste von Antworten; jede ist ein Text oder ein Objekt mit text und tool_calls.</translation>
    </message>
    <message>
      <source>A PDF file</source>
      <translation>Eine PDF-Datei</translation>
    </message>
    <message>
      <source>A call ends within</source>
      <translation>Ein Aufruf endet nach</translation>
    </message>
    <message>
      <source>A call of {tool} for each row; its columns are the arguments</source>
      <translation>Ein Aufruf von {tool} für jede Zeile; ihre Spalten sind die Argumente</translation>
    </message>
    <message>
      <source>A call that the model made</source>
      <translation>Ein Aufruf, den das Modell machte</translation>
    </message>
    <message>
      <source>A caret at every match</source>
      <translation>Eine Schreibmarke an jedem Treffer</translation>
    </message>
    <message>
      <source>A caret at the end of each line</source>
      <translation>Eine Schreibmarke an jedem Zeilenende</translation>
    </message>
    <message>
      <source>A commit or an earlier text</source>
      <translation>Ein Commit oder ein früherer Text</translation>
    </message>
    <message>
      <source>A connection {name!r} already exists.</source>
      <translation>Es gibt schon eine Verbindung {name!r}.</translation>
    </message>
    <message>
      <source>A copy to edit</source>
      <translation>Eine Kopie zum Bearbeiten</translation>
    </message>
    <message>
      <source>A file</source>
      <translation>Eine Datei</translation>
    </message>
    <message>
      <source>A file is still being read.</source>
      <translation>Eine Datei wird noch gelesen.</translation>
    </message>
    <message>
      <source>A file {name!r} already exists.</source>
      <translation>Es gibt schon eine Datei {name!r}.</translation>
    </message>
    <message>
      <source>A file, by path or address</source>
      <translation>Eine Datei, als Pfad oder Adresse</translation>
    </message>
    <message>
      <source>A film</source>
      <translation>Ein Film</translation>
    </message>
    <message>
      <source>A function that the model may call</source>
      <translation>Eine Funktion, die das Modell aufrufen darf</translation>
    </message>
    <message>
      <source>A key is stored for this session, until the studio exits.</source>
      <translation>Ein Schlüssel wird für diese Sitzung gehalten; er ist fort, wenn das Studio endet.</translation>
    </message>
    <message>
      <source>A key is stored in the system's key store.</source>
      <translation>Ein Schlüssel liegt im Schlüsselspeicher des Systems.</translation>
    </message>
    <message>
      <source>A key with two actions does nothing. {names}.</source>
      <translation>Eine Taste für zwei Aktionen bewirkt nichts. {names}.</translation>
    </message>
    <message>
      <source>A limit that was reached</source>
      <translation>Eine erreichte Grenze</translation>
    </message>
    <message>
      <source>A limit was reached</source>
      <translation>Eine Grenze wurde erreicht</translation>
    </message>
    <message>
      <source>A longer context needs more memory.</source>
      <translation>Ein längerer Kontext braucht mehr Speicher.</translation>
    </message>
    <message>
      <source>A message gets other attributes.</source>
      <translation>Eine Nachricht bekommt andere Attribute.</translation>
    </message>
    <message>
      <source>A message gets other parts.</source>
      <translation>Eine Nachricht bekommt andere Teile.</translation>
    </message>
    <message>
      <source>A message has a part of the kind {kind!r}, which is not read here; write it as text, image_url, input_audio or file.</source>
      <translation>Eine Nachricht hat einen Teil der Art {kind!r}, der hier nicht gelesen wird; schreiben Sie ihn als text, image_url, input_audio oder file.</translation>
    </message>
    <message>
      <source>A million tokens cost {sent} sent, {received} received ({source}).</source>
      <translation>Eine Million Tokens kosten {sent} gesendet, {received} empfangen ({source}).</translation>
    </message>
    <message>
      <source>A model that does not respond</source>
      <translation>Ein Modell, das nicht antwortet</translation>
    </message>
    <message>
      <source>A name contains no / or \; create folders in the tree.</source>
      <translation>Ein Name hat kein / und kein \; Ordner legt man im Baum an.</translation>
    </message>
    <message>
      <source>A name for a value</source>
      <translation>Ein Name für einen Wert</translation>
    </message>
    <message>
      <source>A new file</source>
      <translation>Eine neue Datei</translation>
    </message>
    <message>
      <source>A new file: every line is new</source>
      <translation>Eine neue Datei: jede Zeile ist neu</translation>
    </message>
    <message>
      <source>A number</source>
      <translation>Eine Zahl</translation>
    </message>
    <message>
      <source>A parameter of the run (section dialect)</source>
      <translation>Ein Parameter des Laufs (Abschnitts-Dialekt)</translation>
    </message>
    <message>
      <source>A password in the address would be stored in a file: enter it under Key.</source>
      <translation>Ein Passwort in der Adresse stünde in einer Datei: geben Sie es unter Schlüssel ein.</translation>
    </message>
    <message>
      <source>A past run.</source>
      <translation>Ein früherer Lauf.</translation>
    </message>
    <message>
      <source>A picture with attributes</source>
      <translation>Ein Bild mit Attributen</translation>
    </message>
    <message>
      <source>A picture, by path or address</source>
      <translation>Ein Bild, als Pfad oder Adresse</translation>
    </message>
    <message>
      <source>A prompt that cannot be rendered</source>
      <translation>Ein Prompt, der sich nicht einsetzen lässt</translation>
    </message>
    <message>
      <source>A question and its answer</source>
      <translation>Eine Frage und ihre Antwort</translation>
    </message>
    <message>
      <source>A recording</source>
      <translation>Eine Aufnahme</translation>
    </message>
    <message>
      <source>A replay sends nothing: the reply comes from the recorded run.</source>
      <translation>Eine Wiedergabe sendet nichts: Die Antwort kommt aus dem aufgezeichneten Lauf.</translation>
    </message>
    <message>
      <source>A reply that was cut off</source>
      <translation>Eine abgeschnittene Antwort</translation>
    </message>
    <message>
      <source>A row can be repeated 1 to {most:,} times, not {count:,}.</source>
      <translation>Eine Zeile wird 1- bis {most:,}-mal gefragt, nicht {count:,}-mal.</translation>
    </message>
    <message>
      <source>A rule that blocks a call</source>
      <translation>Eine Regel, die einen Aufruf verbietet</translation>
    </message>
    <message>
      <source>A run can stop before a call of a tool or before a request with a message: put the caret on the tool or the role. Other breakpoints are set in the Run pane's diagram.</source>
      <translation>Ein Lauf hält vor dem Aufruf eines Werkzeugs oder mit einer Nachricht in seiner Anfrage: setzen Sie die Schreibmarke auf das Werkzeug oder die Rolle. Andere Stellen stehen im Diagramm des Laufs.</translation>
    </message>
    <message>
      <source>A run is still being written.</source>
      <translation>Ein Lauf wird noch geschrieben.</translation>
    </message>
    <message>
      <source>A run of {name} has not ended.</source>
      <translation>Ein Lauf von {name} ist nicht zu Ende.</translation>
    </message>
    <message>
      <source>A run supplies these values; the preview shows samples.</source>
      <translation>Diese Werte bringt ein Lauf mit; die Vorschau zeigt Beispiele dafür.</translation>
    </message>
    <message>
      <source>A text that was never saved needs no trust.</source>
      <translation>Ein nie gespeicherter Text ist Ihr eigener.</translation>
    </message>
    <message>
      <source>A text was better on the selection rows, but not all unseen rows were run: the result is not reliable.</source>
      <translation>Ein Text war auf den auswählenden Zeilen besser, aber die ungesehenen Zeilen wurden nicht alle gefragt: Bewiesen ist nichts.</translation>
    </message>
    <message>
      <source>A tool asks</source>
      <translation>Ein Werkzeug fragt</translation>
    </message>
    <message>
      <source>A tool that does not exist</source>
      <translation>Ein Werkzeug, das es nicht gibt</translation>
    </message>
    <message>
      <source>A tool that fails</source>
      <translation>Ein Werkzeug, das scheitert</translation>
    </message>
    <message>
      <source>A tool that takes too long</source>
      <translation>Ein Werkzeug, das zu lange braucht</translation>
    </message>
    <message>
      <source>A tool {name!r} already exists.</source>
      <translation>Ein Werkzeug {name!r} gibt es schon.</translation>
    </message>
    <message>
      <source>A value is missing</source>
      <translation>Ein Wert ist nicht gesetzt</translation>
    </message>
    <message>
      <source>A value is needed for {names}.</source>
      <translation>Ein Wert ist nötig für {names}.</translation>
    </message>
    <message>
      <source>A value is needed.</source>
      <translation>Ein Wert wird gebraucht.</translation>
    </message>
    <message>
      <source>A very small model for trying things out, which needs guidance; larger models need none.</source>
      <translation>Ein sehr kleines Modell zum Ausprobieren, das Hilfe braucht; richtige Modelle brauchen keine.</translation>
    </message>
    <message>
      <source>A very small model on this machine, for first tries. No account, no network.</source>
      <translation>Ein sehr kleines Modell auf diesem Rechner, zum Ausprobieren. Kein Konto, kein Netz.</translation>
    </message>
    <message>
      <source>A worker does not have Prompt Studio ({reason}); install the same version there.</source>
      <translation>Einem Worker fehlt Prompt Studio ({reason}); installieren Sie dort dieselbe Version.</translation>
    </message>
    <message>
      <source>API</source>
      <translation>API</translation>
    </message>
    <message>
      <source>API version</source>
      <translation>API-Version</translation>
    </message>
    <message>
      <source>API, headers and time limits</source>
      <translation>API, Kopfzeilen und Zeitgrenzen</translation>
    </message>
    <message>
      <source>Abilities and prices of the model</source>
      <translation>Was das Modell kann und kostet</translation>
    </message>
    <message>
      <source>About Prompt Studio</source>
      <translation>Über Prompt Studio</translation>
    </message>
    <message>
      <source>Accept</source>
      <translation>Annehmen</translation>
    </message>
    <message>
      <source>Accept answer</source>
      <translation>Antwort übernehmen</translation>
    </message>
    <message>
      <source>Accept unchanged</source>
      <translation>Unverändert annehmen</translation>
    </message>
    <message>
      <source>Action</source>
      <translation>Aktion</translation>
    </message>
    <message>
      <source>Actions and their keys</source>
      <translation>Aktionen und ihre Tasten</translation>
    </message>
    <message>
      <source>Add</source>
      <translation>Hinzufügen</translation>
    </message>
    <message>
      <source>Add MCP servers</source>
      <translation>MCP-Server hinzufügen</translation>
    </message>
    <message>
      <source>Add a caret above</source>
      <translation>Schreibmarke darüber</translation>
    </message>
    <message>
      <source>Add a caret at the next match</source>
      <translation>Nächsten Treffer zu den Cursorn nehmen</translation>
    </message>
    <message>
      <source>Add a caret below</source>
      <translation>Schreibmarke darunter</translation>
    </message>
    <message>
      <source>Add a folder to Files</source>
      <translation>Einen weiteren Ordner in Dateien zeigen</translation>
    </message>
    <message>
      <source>Add a message</source>
      <translation>Eine Nachricht hinzufügen</translation>
    </message>
    <message>
      <source>Add a message after this one</source>
      <translation>Nach dieser eine Nachricht hinzufügen</translation>
    </message>
    <message>
      <source>Add a server…</source>
      <translation>Server hinzufügen …</translation>
    </message>
    <message>
      <source>Add an MCP server, or import those of other programs</source>
      <translation>Einen MCP-Server eintragen oder die anderer Programme übernehmen</translation>
    </message>
    <message>
      <source>Add an expression: args.city, tokens.total &gt; 1000 …</source>
      <translation>Einen Ausdruck hinzufügen: args.city, tokens.total &gt; 1000 …</translation>
    </message>
    <message>
      <source>Add an item to {name}</source>
      <translation>Einen Eintrag zu {name} hinzufügen</translation>
    </message>
    <message>
      <source>Add anyway</source>
      <translation>Trotzdem hinzufügen</translation>
    </message>
    <message>
      <source>Add as variants</source>
      <translation>Als Varianten hinzufügen</translation>
    </message>
    <message>
      <source>Add folder</source>
      <translation>Ordner hinzufügen</translation>
    </message>
    <message>
      <source>Add folder…</source>
      <translation>Ordner hinzufügen …</translation>
    </message>
    <message>
      <source>Add input</source>
      <translation>Eingabe hinzufügen</translation>
    </message>
    <message>
      <source>Add item</source>
      <translation>Eintrag hinzufügen</translation>
    </message>
    <message>
      <source>Add message</source>
      <translation>Nachricht hinzufügen</translation>
    </message>
    <message>
      <source>Add outputs</source>
      <translation>Ausgaben hinzufügen</translation>
    </message>
    <message>
      <source>Add the connection, name one under `providers`, or use one for the folder.</source>
      <translation>Legen Sie die Verbindung an, nennen Sie eine unter `providers`, oder verwenden Sie eine für den Ordner.</translation>
    </message>
    <message>
      <source>Add the connection, or name another under `providers`.</source>
      <translation>Legen Sie die Verbindung an, oder nennen Sie eine andere unter `providers`.</translation>
    </message>
    <message>
      <source>Add the run's values and answer to the cases of the prompt</source>
      <translation>Werte und Antwort des Laufs zu den Fällen des Prompts hinzufügen</translation>
    </message>
    <message>
      <source>Add tool</source>
      <translation>Werkzeug hinzufügen</translation>
    </message>
    <message>
      <source>Add {name!r} to the inputs of the front matter</source>
      <translation>{name!r} zu den Eingaben der Kopfdaten hinzufügen</translation>
    </message>
    <message>
      <source>Add {word!r} to your words</source>
      <translation>{word!r} zu Ihren Wörtern hinzufügen</translation>
    </message>
    <message>
      <source>Adding prompts would rename the baseline {name!r}; first give the prompts labels.</source>
      <translation>Weitere Prompts gäben der Vergleichsbasis {name!r} einen anderen Namen; geben Sie den Prompts zuerst Bezeichnungen.</translation>
    </message>
    <message>
      <source>Address</source>
      <translation>Adresse</translation>
    </message>
    <message>
      <source>Address of the workers</source>
      <translation>Adresse der Arbeitsprozesse</translation>
    </message>
    <message>
      <source>Address, such as https://host/v1</source>
      <translation>Adresse, etwa https://host/v1</translation>
    </message>
    <message>
      <source>Addresses that may be accessed</source>
      <translation>Adressen, die erreicht werden dürfen</translation>
    </message>
    <message>
      <source>Against A</source>
      <translation>Gegen A</translation>
    </message>
    <message>
      <source>Against the baseline</source>
      <translation>Gegen die Vergleichsbasis</translation>
    </message>
    <message>
      <source>Against the first</source>
      <translation>Gegen den ersten</translation>
    </message>
    <message>
      <source>Agent file</source>
      <translation>Agentendatei</translation>
    </message>
    <message>
      <source>Agree only if you know who wrote the folder's files.</source>
      <translation>Stimmen Sie nur zu, wenn Sie wissen, wer die Dateien des Ordners geschrieben hat.</translation>
    </message>
    <message>
      <source>All</source>
      <translation>Alle</translation>
    </message>
    <message>
      <source>All breakpoints…</source>
      <translation>Alle Haltepunkte …</translation>
    </message>
    <message>
      <source>All commands…</source>
      <translation>Alle Befehle …</translation>
    </message>
    <message>
      <source>All files (*)</source>
      <translation>Alle Dateien (*)</translation>
    </message>
    <message>
      <source>All gates pass.</source>
      <translation>Alle Schranken halten.</translation>
    </message>
    <message>
      <source>All request formats side by side</source>
      <translation>Alle Anfrageformate nebeneinander</translation>
    </message>
    <message>
      <source>All selection rows pass.</source>
      <translation>Jede auswählende Zeile besteht.</translation>
    </message>
    <message>
      <source>All steps</source>
      <translation>Alle Schritte</translation>
    </message>
    <message>
      <source>All tools</source>
      <translation>Alle Werkzeuge</translation>
    </message>
    <message>
      <source>All tools (Esc)</source>
      <translation>Alle Werkzeuge (Esc)</translation>
    </message>
    <message>
      <source>All training rows already pass.</source>
      <translation>Die Zeilen, aus denen Texte entstehen, bestehen schon.</translation>
    </message>
    <message>
      <source>Allow</source>
      <translation>Erlauben</translation>
    </message>
    <message>
      <source>Allow once</source>
      <translation>Einmal erlauben</translation>
    </message>
    <message>
      <source>Allow twice as much</source>
      <translation>Doppelt so viel erlauben</translation>
    </message>
    <message>
      <source>Allow up to {amount}</source>
      <translation>Bis {amount} erlauben</translation>
    </message>
    <message>
      <source>Allow what has changed?</source>
      <translation>Geändertes erlauben?</translation>
    </message>
    <message>
      <source>Allow what is new?</source>
      <translation>Neues erlauben?</translation>
    </message>
    <message>
      <source>Allow {more_iterations} more</source>
      <translation>{more_iterations} mehr erlauben</translation>
    </message>
    <message>
      <source>Allowed before:</source>
      <translation>Bisher erlaubt:</translation>
    </message>
    <message>
      <source>Allowed endpoints</source>
      <translation>Erlaubte Ziele</translation>
    </message>
    <message>
      <source>Allow…</source>
      <translation>Erlauben …</translation>
    </message>
    <message>
      <source>Also Ctrl with the wheel, or Ctrl++.</source>
      <translation>Auch Strg mit dem Mausrad oder Strg++.</translation>
    </message>
    <message>
      <source>Also apply it after this run; otherwise it applies to this run only</source>
      <translation>Über diesen Lauf hinaus behalten; sonst weiß nur dieser Lauf davon</translation>
    </message>
    <message>
      <source>Also approve the other calls, and run all at the same time.</source>
      <translation>Auch die anderen Aufrufe erlauben und alle gleichzeitig ausführen.</translation>
    </message>
    <message>
      <source>Also as the tool's mock</source>
      <translation>Auch als Ersatzantwort des Werkzeugs</translation>
    </message>
    <message>
      <source>Also in the file</source>
      <translation>Auch in der Datei</translation>
    </message>
    <message>
      <source>Also in the file, as an example</source>
      <translation>Auch in der Datei, als Beispiel</translation>
    </message>
    <message>
      <source>Always allow</source>
      <translation>Immer erlauben</translation>
    </message>
    <message>
      <source>Ambiguous</source>
      <translation>Mehrdeutig</translation>
    </message>
    <message>
      <source>An address that a prompt file names is used only after you allowed it. Pictures at network addresses are not fetched for the preview.</source>
      <translation>Eine Adresse, die eine Prompt-Datei nennt, wird erst benutzt, wenn Sie sie erlaubt haben. Bilder an Netzadressen werden für die Vorschau nicht geholt.</translation>
    </message>
    <message>
      <source>An answer that does not match the outputs</source>
      <translation>Ein Ergebnis, das nicht zu den Ausgaben passt</translation>
    </message>
    <message>
      <source>An answer, as an example</source>
      <translation>Eine Antwort, als Beispiel</translation>
    </message>
    <message>
      <source>An environment variable: ${env:NAME} or ${env:NAME:default}</source>
      <translation>Eine Umgebungsvariable: ${env:NAME} oder ${env:NAME:Vorgabe}</translation>
    </message>
    <message>
      <source>An even number</source>
      <translation>Eine gerade Zahl</translation>
    </message>
    <message>
      <source>An example answer in JSON, whose fields become outputs</source>
      <translation>Eine Beispielantwort als JSON: ihre Felder werden Ausgaben</translation>
    </message>
    <message>
      <source>An example answer is an object: {"name": value}.</source>
      <translation>Eine Beispielantwort ist ein Objekt: {"name": Wert}.</translation>
    </message>
    <message>
      <source>An experiment names its models itself.</source>
      <translation>Ein Experiment nennt seine Modelle selbst.</translation>
    </message>
    <message>
      <source>An input {name!r} already exists.</source>
      <translation>Eine Eingabe {name!r} gibt es schon.</translation>
    </message>
    <message>
      <source>An invalid reply</source>
      <translation>Eine Antwort, die sich nicht lesen lässt</translation>
    </message>
    <message>
      <source>An odd number</source>
      <translation>Eine ungerade Zahl</translation>
    </message>
    <message>
      <source>Another condition</source>
      <translation>Eine weitere Bedingung</translation>
    </message>
    <message>
      <source>Another file</source>
      <translation>Andere Datei</translation>
    </message>
    <message>
      <source>Another model</source>
      <translation>Anderes Modell</translation>
    </message>
    <message>
      <source>Another name for the tag “{tag}”:</source>
      <translation>Ein anderer Name für das Schlagwort „{tag}“:</translation>
    </message>
    <message>
      <source>Another process is running this result; reload to see new cells.</source>
      <translation>Ein anderer Prozess führt dieses Ergebnis aus; laden Sie neu, um Neues zu sehen.</translation>
    </message>
    <message>
      <source>Another program changed {names}: its version stays in the file.</source>
      <translation>Ein anderes Programm hatte {names} geändert: Seine Fassung bleibt in der Datei.</translation>
    </message>
    <message>
      <source>Another value where it is undefined: default('none')</source>
      <translation>Ein anderer Wert, wo keiner definiert ist: default('none')</translation>
    </message>
    <message>
      <source>Answer</source>
      <translation>Antwort</translation>
    </message>
    <message>
      <source>Answer</source>
      <comment>verb</comment>
      <translation>Antworten</translation>
    </message>
    <message>
      <source>Answer as a failure</source>
      <translation>Als Fehlschlag antworten</translation>
    </message>
    <message>
      <source>Answer for {tool}</source>
      <translation>Antwort für {tool}</translation>
    </message>
    <message>
      <source>Answer in its place…</source>
      <translation>An seiner Stelle antworten …</translation>
    </message>
    <message>
      <source>Answer in place of {tool}</source>
      <translation>Anstelle von {tool} antworten</translation>
    </message>
    <message>
      <source>Answer myself…</source>
      <translation>Selbst antworten …</translation>
    </message>
    <message>
      <source>Answer of the mock</source>
      <translation>Antwort der Attrappe</translation>
    </message>
    <message>
      <source>Answer the request</source>
      <translation>Die Anfrage beantworten</translation>
    </message>
    <message>
      <source>Answer, messages, request</source>
      <translation>Antwort, Nachrichten, Anfrage</translation>
    </message>
    <message>
      <source>Answer: {answer}</source>
      <translation>Antwort: {answer}</translation>
    </message>
    <message>
      <source>Answered by</source>
      <translation>Beantwortet von</translation>
    </message>
    <message>
      <source>Answers</source>
      <translation>Antworten</translation>
    </message>
    <message>
      <source>Answers differ</source>
      <translation>Antworten unterscheiden sich</translation>
    </message>
    <message>
      <source>Answers within a day at half the price, if the connection supports batches</source>
      <translation>Beantwortet innerhalb eines Tages, zum halben Preis, wo die Verbindung Batches hat</translation>
    </message>
    <message>
      <source>Anthropic</source>
      <translation>Anthropic</translation>
    </message>
    <message>
      <source>Any OpenAI-compatible server</source>
      <translation>Ein anderer Server, der wie OpenAI spricht</translation>
    </message>
    <message>
      <source>Any end</source>
      <translation>Jedes Ende</translation>
    </message>
    <message>
      <source>Any key is kept and travels with the message</source>
      <translation>Jeder Schlüssel bleibt und reist mit der Nachricht</translation>
    </message>
    <message>
      <source>Any tool</source>
      <translation>Jedes Werkzeug</translation>
    </message>
    <message>
      <source>Any warning</source>
      <translation>Jede Warnung</translation>
    </message>
    <message>
      <source>Anywhere</source>
      <translation>Überall</translation>
    </message>
    <message>
      <source>Appearance</source>
      <translation>Aussehen</translation>
    </message>
    <message>
      <source>Apply</source>
      <translation>Anwenden</translation>
    </message>
    <message>
      <source>Apply and continue</source>
      <translation>Anwenden und weiter</translation>
    </message>
    <message>
      <source>Apply and step</source>
      <translation>Anwenden und Schritt</translation>
    </message>
    <message>
      <source>Approval</source>
      <translation>Zustimmung</translation>
    </message>
    <message>
      <source>Approval of calls</source>
      <translation>Zustimmung zu Aufrufen</translation>
    </message>
    <message>
      <source>Approval of calls for the whole folder</source>
      <translation>Zustimmung zu Aufrufen für den ganzen Ordner</translation>
    </message>
    <message>
      <source>Approve</source>
      <translation>Erlauben</translation>
    </message>
    <message>
      <source>Approve the call</source>
      <translation>Den Aufruf erlauben</translation>
    </message>
    <message>
      <source>Approve this call and run it with the others.</source>
      <translation>Diesen Aufruf erlauben und mit den anderen ausführen.</translation>
    </message>
    <message>
      <source>Approve {number} of {count}</source>
      <translation>{number} von {count} erlauben</translation>
    </message>
    <message>
      <source>Approve {tool}, call {number} of {count}?</source>
      <translation>{tool} erlauben, Aufruf {number} von {count}?</translation>
    </message>
    <message>
      <source>Argument</source>
      <translation>Argument</translation>
    </message>
    <message>
      <source>Arguments</source>
      <translation>Argumente</translation>
    </message>
    <message>
      <source>Arguments of the call</source>
      <translation>Argumente des Aufrufs</translation>
    </message>
    <message>
      <source>Arguments of the tool</source>
      <translation>Argumente des Werkzeugs</translation>
    </message>
    <message>
      <source>Arguments of {name}</source>
      <translation>Argumente von {name}</translation>
    </message>
    <message>
      <source>Arguments of {tool}</source>
      <translation>Argumente von {tool}</translation>
    </message>
    <message>
      <source>Arguments that do not match</source>
      <translation>Argumente, die nicht passen</translation>
    </message>
    <message>
      <source>As JSON</source>
      <translation>Als JSON</translation>
    </message>
    <message>
      <source>As Python</source>
      <translation>Als Python</translation>
    </message>
    <message>
      <source>As a list</source>
      <translation>Als Liste</translation>
    </message>
    <message>
      <source>As a number</source>
      <translation>Als Zahl</translation>
    </message>
    <message>
      <source>As a whole number</source>
      <translation>Als ganze Zahl</translation>
    </message>
    <message>
      <source>As curl</source>
      <translation>Als curl</translation>
    </message>
    <message>
      <source>As each tool requests</source>
      <translation>Jedes Werkzeug, wie es verlangt</translation>
    </message>
    <message>
      <source>As sent</source>
      <translation>Wie gesendet</translation>
    </message>
    <message>
      <source>As text</source>
      <translation>Als Text</translation>
    </message>
    <message>
      <source>As the system</source>
      <translation>Wie das System</translation>
    </message>
    <message>
      <source>Ask again</source>
      <translation>Noch einmal fragen</translation>
    </message>
    <message>
      <source>Ask again with the errors</source>
      <translation>Mit den Fehlern erneut fragen</translation>
    </message>
    <message>
      <source>Ask again with {count:,} tokens</source>
      <translation>Noch einmal mit {count:,} Tokens fragen</translation>
    </message>
    <message>
      <source>Ask again.</source>
      <translation>Fragen Sie erneut.</translation>
    </message>
    <message>
      <source>Ask on</source>
      <translation>Fragen auf</translation>
    </message>
    <message>
      <source>Ask the model</source>
      <translation>Das Modell fragen</translation>
    </message>
    <message>
      <source>Ask the next question in this thread.</source>
      <translation>Die nächste Frage in diesem Gespräch stellen.</translation>
    </message>
    <message>
      <source>Ask {name} for {model}</source>
      <translation>{name} nach {model} fragen</translation>
    </message>
    <message>
      <source>Asking…</source>
      <translation>Es wird gefragt …</translation>
    </message>
    <message>
      <source>Asks for {plural}</source>
      <translation>Verlangt {plural}</translation>
    </message>
    <message>
      <source>Assertions</source>
      <translation>Prüfungen</translation>
    </message>
    <message>
      <source>At least {minimum:g}.</source>
      <translation>Nicht unter {minimum:g}.</translation>
    </message>
    <message>
      <source>At most {maximum:g}.</source>
      <translation>Nicht über {maximum:g}.</translation>
    </message>
    <message>
      <source>At the end of an iteration</source>
      <translation>Am Ende eines Durchgangs</translation>
    </message>
    <message>
      <source>Attribute {key!r}</source>
      <translation>Attribut {key!r}</translation>
    </message>
    <message>
      <source>Azure OpenAI</source>
      <translation>Azure OpenAI</translation>
    </message>
    <message>
      <source>Back</source>
      <translation>Zurück</translation>
    </message>
    <message>
      <source>Backwards</source>
      <translation>Rückwärts</translation>
    </message>
    <message>
      <source>Before a tool</source>
      <translation>Vor einem Werkzeug</translation>
    </message>
    <message>
      <source>Before a tool · {tool}</source>
      <translation>Vor einem Werkzeug · {tool}</translation>
    </message>
    <message>
      <source>Before the model</source>
      <translation>Vor dem Modell</translation>
    </message>
    <message>
      <source>Being rendered…</source>
      <translation>Wird ausgefüllt …</translation>
    </message>
    <message>
      <source>Better: {counts}; equal {equal}.</source>
      <translation>Besser: {counts}; gleich {equal}.</translation>
    </message>
    <message>
      <source>Blocked by a rule</source>
      <translation>Von einer Regel verhindert</translation>
    </message>
    <message>
      <source>Both are identical.</source>
      <translation>Beide sagen dasselbe, von der ersten Nachricht bis zur letzten.</translation>
    </message>
    <message>
      <source>Both are the same.</source>
      <translation>Beide sind gleich.</translation>
    </message>
    <message>
      <source>Branch {number}</source>
      <translation>Zweig {number}</translation>
    </message>
    <message>
      <source>Branches</source>
      <translation>Zweige</translation>
    </message>
    <message>
      <source>Branches of the run…</source>
      <translation>Zweige des Laufs …</translation>
    </message>
    <message>
      <source>Branches…</source>
      <translation>Zweige …</translation>
    </message>
    <message>
      <source>Breadcrumbs</source>
      <translation>Pfadleiste</translation>
    </message>
    <message>
      <source>Breakpoint</source>
      <translation>Haltepunkt</translation>
    </message>
    <message>
      <source>Breakpoints</source>
      <translation>Haltepunkte</translation>
    </message>
    <message>
      <source>Breakpoints are only kept until the studio exits: {reason}.</source>
      <translation>Haltepunkte gelten nur, bis das Studio geschlossen wird: {reason}.</translation>
    </message>
    <message>
      <source>Breakpoints of {file}</source>
      <translation>Haltepunkte von {file}</translation>
    </message>
    <message>
      <source>Breakpoints…</source>
      <translation>Haltepunkte …</translation>
    </message>
    <message>
      <source>Broken reply</source>
      <translation>Abgebrochene Antwort</translation>
    </message>
    <message>
      <source>Browse…</source>
      <translation>Auswählen …</translation>
    </message>
    <message>
      <source>Budget</source>
      <translation>Budget</translation>
    </message>
    <message>
      <source>Busy</source>
      <translation>Ausgelastet</translation>
    </message>
    <message>
      <source>By day</source>
      <translation>Nach Tag</translation>
    </message>
    <message>
      <source>By model</source>
      <translation>Nach Modell</translation>
    </message>
    <message>
      <source>By prompt</source>
      <translation>Nach Prompt</translation>
    </message>
    <message>
      <source>By recording</source>
      <translation>Nach Aufzeichnung</translation>
    </message>
    <message>
      <source>By tag</source>
      <translation>Nach Schlagwort</translation>
    </message>
    <message>
      <source>By {name}</source>
      <translation>Nach {name}</translation>
    </message>
    <message>
      <source>By {name}, rows: better in {better}, worse in {worse}.</source>
      <translation>Nach {name}, in Zeilen: besser bei {better}, schlechter bei {worse}.</translation>
    </message>
    <message>
      <source>Bytes</source>
      <translation>Bytes</translation>
    </message>
    <message>
      <source>Cache write</source>
      <translation>In den Cache</translation>
    </message>
    <message>
      <source>Caches</source>
      <translation>Was wieder gemacht werden kann</translation>
    </message>
    <message>
      <source>Call</source>
      <translation>Aufrufen</translation>
    </message>
    <message>
      <source>Call again</source>
      <translation>Noch einmal aufrufen</translation>
    </message>
    <message>
      <source>Call all</source>
      <translation>Alle aufrufen</translation>
    </message>
    <message>
      <source>Call anyway</source>
      <translation>Trotzdem aufrufen</translation>
    </message>
    <message>
      <source>Call the tool with the arguments of this call</source>
      <translation>Das Werkzeug mit den Argumenten dieses Aufrufs aufrufen</translation>
    </message>
    <message>
      <source>Call the tool with the same arguments again, on a new branch.</source>
      <translation>Das Werkzeug mit denselben Argumenten noch einmal aufrufen, als neuer Zweig.</translation>
    </message>
    <message>
      <source>Call the tool with these arguments (Enter)</source>
      <translation>Das Werkzeug mit diesen Argumenten aufrufen (Eingabe)</translation>
    </message>
    <message>
      <source>Call the {count} selected</source>
      <translation>Die {count} ausgewählten aufrufen</translation>
    </message>
    <message>
      <source>Call {number} differs from the previous recording: {difference}</source>
      <translation>Aufruf {number} unterscheidet sich von der vorigen Aufzeichnung: {difference}</translation>
    </message>
    <message>
      <source>Calls</source>
      <translation>Aufrufe</translation>
    </message>
    <message>
      <source>Calls of this folder's tools</source>
      <translation>Aufrufe der Werkzeuge dieses Ordners</translation>
    </message>
    <message>
      <source>Calls of {tool}</source>
      <translation>Aufrufe von {tool}</translation>
    </message>
    <message>
      <source>Calls {name}</source>
      <translation>Ruft {name}</translation>
    </message>
    <message>
      <source>Calls: {approval}</source>
      <translation>Aufrufe: {approval}</translation>
    </message>
    <message>
      <source>Calls: {count}</source>
      <translation>Aufrufe: {count}</translation>
    </message>
    <message>
      <source>Can</source>
      <translation>Kann</translation>
    </message>
    <message>
      <source>Can be exported, but parts are changed or lost</source>
      <translation>Kann exportiert werden, aber nicht alles kommt so mit</translation>
    </message>
    <message>
      <source>Cancel</source>
      <translation>Abbrechen</translation>
    </message>
    <message>
      <source>Cannot</source>
      <translation>Kann nicht</translation>
    </message>
    <message>
      <source>Cannot be exported yet: fix the errors below first</source>
      <translation>Kann noch nicht exportiert werden: beheben Sie zuerst die Fehler unten</translation>
    </message>
    <message>
      <source>Capabilities</source>
      <translation>Fähigkeiten</translation>
    </message>
    <message>
      <source>Careful</source>
      <translation>Sorgsam</translation>
    </message>
    <message>
      <source>Cases</source>
      <translation>Fälle</translation>
    </message>
    <message>
      <source>Cells at most</source>
      <translation>Höchstens Zellen</translation>
    </message>
    <message>
      <source>Cells passed, result by result</source>
      <translation>Bestandene Zellen, Ergebnis für Ergebnis</translation>
    </message>
    <message>
      <source>Certificates</source>
      <translation>Zertifikate</translation>
    </message>
    <message>
      <source>Change it before the run ends.</source>
      <translation>Ändern, bevor der Lauf endet.</translation>
    </message>
    <message>
      <source>Change its command line, address, variables or login, or remove it</source>
      <translation>Befehlszeile, Adresse, Variablen oder Anmeldung ändern, oder den Server entfernen</translation>
    </message>
    <message>
      <source>Change limit…</source>
      <translation>Grenze ändern …</translation>
    </message>
    <message>
      <source>Change other options of the request.</source>
      <translation>Ändern, was das Programm sonst noch verlangt.</translation>
    </message>
    <message>
      <source>Change the arguments of the call.</source>
      <translation>Ändern, womit das Werkzeug aufgerufen wird.</translation>
    </message>
    <message>
      <source>Change the message.</source>
      <translation>Die Nachricht ändern.</translation>
    </message>
    <message>
      <source>Change the messages, for this iteration only.</source>
      <translation>Ändern, was gesendet wird, nur für diesen Durchgang.</translation>
    </message>
    <message>
      <source>Change the messages…</source>
      <translation>Nachrichten ändern …</translation>
    </message>
    <message>
      <source>Change the prompt in the editor; undo works</source>
      <translation>Den Prompt im Editor ändern; Rückgängig geht</translation>
    </message>
    <message>
      <source>Change the result for the model.</source>
      <translation>Ändern, was das Modell bekommt.</translation>
    </message>
    <message>
      <source>Change the text in the editor, as one undo step</source>
      <translation>Den Text im Editor ändern; Rückgängig nimmt es als einen Schritt zurück</translation>
    </message>
    <message>
      <source>Change to {model}</source>
      <translation>Zu {model} wechseln</translation>
    </message>
    <message>
      <source>Change to {model} and try again</source>
      <translation>Zu {model} wechseln und noch einmal versuchen</translation>
    </message>
    <message>
      <source>Changed</source>
      <translation>Geändert</translation>
    </message>
    <message>
      <source>Changed by this save</source>
      <translation>Durch dieses Speichern geändert</translation>
    </message>
    <message>
      <source>Changed for this iteration only, unless you also apply it to the prompt file.</source>
      <translation>Für diesen Durchgang geändert; die Prompt-Datei bleibt, wie sie ist, wenn Sie nichts anderes sagen.</translation>
    </message>
    <message>
      <source>Changed since the previous point</source>
      <translation>Ein anderer Wert als im Moment davor</translation>
    </message>
    <message>
      <source>Changes only</source>
      <translation>Nur Änderungen</translation>
    </message>
    <message>
      <source>Chart</source>
      <translation>Diagramm</translation>
    </message>
    <message>
      <source>Chat completions</source>
      <translation>Chat Completions</translation>
    </message>
    <message>
      <source>Check</source>
      <translation>Prüfen</translation>
    </message>
    <message>
      <source>Check its fields.</source>
      <translation>Prüfen Sie ihre Felder.</translation>
    </message>
    <message>
      <source>Check prose with a dictionary</source>
      <translation>Prosa mit einem Wörterbuch prüfen</translation>
    </message>
    <message>
      <source>Check spelling…</source>
      <translation>Rechtschreibung prüfen …</translation>
    </message>
    <message>
      <source>Check that the file exists and that you may read it.</source>
      <translation>Prüfen Sie, ob die Datei noch da ist und ob Sie sie lesen dürfen.</translation>
    </message>
    <message>
      <source>Check the prompt and export it</source>
      <translation>Den Prompt prüfen und exportieren</translation>
    </message>
    <message>
      <source>Checked by the rules of {program}: messages and tools are equal</source>
      <translation>Geprüft nach den Regeln von {program}: Nachrichten und Werkzeuge sind dieselben</translation>
    </message>
    <message>
      <source>Checked, and read back by this program only: no differences</source>
      <translation>Geprüft und nur von diesem Programm zurückgelesen: nichts weicht ab</translation>
    </message>
    <message>
      <source>Checked: no problems were found. No program read it back</source>
      <translation>Geprüft: Es wurde nichts gefunden. Kein Programm hat es zurückgelesen</translation>
    </message>
    <message>
      <source>Checking the answer</source>
      <translation>Die Antwort wird geprüft</translation>
    </message>
    <message>
      <source>Checking…</source>
      <translation>Wird geprüft …</translation>
    </message>
    <message>
      <source>Checks</source>
      <translation>Prüfungen</translation>
    </message>
    <message>
      <source>Choose a cell</source>
      <translation>Wählen Sie eine Zelle</translation>
    </message>
    <message>
      <source>Choose a connection and a model; a small model on this machine is included. F5 runs the prompt, F10 takes one step.</source>
      <translation>Wählen Sie Verbindung und Modell; ein kleines Modell auf diesem Rechner ist dabei. F5 führt den Prompt aus, F10 geht einen Schritt.</translation>
    </message>
    <message>
      <source>Choose a file</source>
      <translation>Eine Datei wählen</translation>
    </message>
    <message>
      <source>Choose a file before it can be used.</source>
      <translation>Wählen Sie eine Datei, bevor sie benutzt werden kann.</translation>
    </message>
    <message>
      <source>Choose a file for {name}</source>
      <translation>Eine Datei für {name} wählen</translation>
    </message>
    <message>
      <source>Choose a file: {name}</source>
      <translation>Eine Datei wählen: {name}</translation>
    </message>
    <message>
      <source>Choose a journal (JSON lines).</source>
      <translation>Wählen Sie ein Journal (JSON-Zeilen).</translation>
    </message>
    <message>
      <source>Choose a model</source>
      <translation>Modell wählen</translation>
    </message>
    <message>
      <source>Choose a model…</source>
      <translation>Modell wählen …</translation>
    </message>
    <message>
      <source>Choose a script before it can be used.</source>
      <translation>Wählen Sie ein Skript, bevor es benutzt werden kann.</translation>
    </message>
    <message>
      <source>Choose a variant with an unchanged .prompty file, without `edit` or a revision: {names}.</source>
      <translation>Wähle eine Variante, deren Prompt eine .prompty-Datei ist, wie sie dasteht, ohne `edit` und ohne Revision: {names}.</translation>
    </message>
    <message>
      <source>Choose an exported journal.</source>
      <translation>Wählen Sie ein Journal, das exportiert wurde.</translation>
    </message>
    <message>
      <source>Choose another language: Edit, Check spelling…</source>
      <translation>Eine andere Sprache wählen: Bearbeiten, Rechtschreibung prüfen …</translation>
    </message>
    <message>
      <source>Choose another name to keep it.</source>
      <translation>Wählen Sie einen anderen Namen, damit sie bleibt.</translation>
    </message>
    <message>
      <source>Choose another name.</source>
      <translation>Wählen Sie einen anderen Namen.</translation>
    </message>
    <message>
      <source>Choose another place.</source>
      <translation>Wählen Sie einen anderen Ort.</translation>
    </message>
    <message>
      <source>Choose operations…</source>
      <translation>Operationen wählen …</translation>
    </message>
    <message>
      <source>Choose two columns (Ctrl+click) to see them step by step.</source>
      <translation>Zwei Spalten wählen (Strg+Klick), um sie Schritt für Schritt zu sehen.</translation>
    </message>
    <message>
      <source>Choose two or more runs to compare them</source>
      <translation>Zwei oder mehr Läufe wählen, um sie zu vergleichen</translation>
    </message>
    <message>
      <source>Choose {name}</source>
      <translation>{name} wählen</translation>
    </message>
    <message>
      <source>Choose…</source>
      <translation>Auswählen …</translation>
    </message>
    <message>
      <source>Clear</source>
      <translation>Leeren</translation>
    </message>
    <message>
      <source>Clear all listed</source>
      <translation>Alle aufgelisteten abwählen</translation>
    </message>
    <message>
      <source>Clear all: use defaults and samples</source>
      <translation>Alles leeren: Vorgaben und Beispiele nehmen</translation>
    </message>
    <message>
      <source>Clear {name}</source>
      <translation>{name} leeren</translation>
    </message>
    <message>
      <source>Clear: use the {origin} again</source>
      <translation>Leeren: wieder {origin} nehmen</translation>
    </message>
    <message>
      <source>Click to go to its place</source>
      <translation>Klicken, um zu seiner Stelle zu gehen</translation>
    </message>
    <message>
      <source>Click to stop trusting {folder}.</source>
      <translation>Klicken, um {folder} nicht mehr zu vertrauen.</translation>
    </message>
    <message>
      <source>Close</source>
      <translation>Schließen</translation>
    </message>
    <message>
      <source>Close (Esc)</source>
      <translation>Schließen (Esc)</translation>
    </message>
    <message>
      <source>Close all tabs</source>
      <translation>Alle Tabs schließen</translation>
    </message>
    <message>
      <source>Close tab</source>
      <translation>Reiter schließen</translation>
    </message>
    <message>
      <source>Close the others</source>
      <translation>Die anderen schließen</translation>
    </message>
    <message>
      <source>Close the report of the probe</source>
      <translation>Den Bericht der Probe schließen</translation>
    </message>
    <message>
      <source>Close the search</source>
      <translation>Die Suche schließen</translation>
    </message>
    <message>
      <source>Close this notice</source>
      <translation>Diese Meldung schließen</translation>
    </message>
    <message>
      <source>Code</source>
      <translation>Code</translation>
    </message>
    <message>
      <source>Column</source>
      <translation>Spalte</translation>
    </message>
    <message>
      <source>Column whose values group the rows</source>
      <translation>Spalte, deren Werte die Zeilen gruppieren</translation>
    </message>
    <message>
      <source>Command</source>
      <translation>Befehl</translation>
    </message>
    <message>
      <source>Comment in</source>
      <translation>Einkommentieren</translation>
    </message>
    <message>
      <source>Comment in or out</source>
      <translation>Ein- oder auskommentieren</translation>
    </message>
    <message>
      <source>Comment out</source>
      <translation>Auskommentieren</translation>
    </message>
    <message>
      <source>Compare</source>
      <translation>Vergleichen</translation>
    </message>
    <message>
      <source>Compare all {count}</source>
      <translation>Alle {count} vergleichen</translation>
    </message>
    <message>
      <source>Compare these two</source>
      <translation>Diese beiden vergleichen</translation>
    </message>
    <message>
      <source>Compare this</source>
      <translation>Dies vergleichen</translation>
    </message>
    <message>
      <source>Compare with</source>
      <translation>Vergleichen mit</translation>
    </message>
    <message>
      <source>Compare with saved</source>
      <translation>Mit der Datei vergleichen</translation>
    </message>
    <message>
      <source>Compare with the run whose answer is shown: messages have changed since</source>
      <translation>Nachrichten haben sich seit dem Lauf geändert, dessen Antwort gezeigt wird: damit vergleichen</translation>
    </message>
    <message>
      <source>Compare without names</source>
      <translation>Ohne Namen vergleichen</translation>
    </message>
    <message>
      <source>Compare with…</source>
      <translation>Vergleichen mit …</translation>
    </message>
    <message>
      <source>Compare {count} runs</source>
      <translation>{count} Läufe vergleichen</translation>
    </message>
    <message>
      <source>Compare {one} with {other}</source>
      <translation>{one} mit {other} vergleichen</translation>
    </message>
    <message>
      <source>Compare {title}</source>
      <translation>{title} vergleichen</translation>
    </message>
    <message>
      <source>Compared part of a step</source>
      <translation>Was von einem Schritt verglichen wird</translation>
    </message>
    <message>
      <source>Compared with {name}</source>
      <translation>Verglichen mit {name}</translation>
    </message>
    <message>
      <source>Compare…</source>
      <translation>Vergleichen …</translation>
    </message>
    <message>
      <source>Comparison</source>
      <translation>Vergleich</translation>
    </message>
    <message>
      <source>Complete</source>
      <translation>Vervollständigen</translation>
    </message>
    <message>
      <source>Completions</source>
      <translation>Vorschläge</translation>
    </message>
    <message>
      <source>Computed by an expression</source>
      <translation>Von einem Ausdruck berechnet</translation>
    </message>
    <message>
      <source>Connect</source>
      <translation>Verbinden</translation>
    </message>
    <message>
      <source>Connect a model…</source>
      <translation>Ein Modell verbinden …</translation>
    </message>
    <message>
      <source>Connect a provider or server…</source>
      <translation>Anbieter oder Server verbinden …</translation>
    </message>
    <message>
      <source>Connect {address}</source>
      <translation>{address} verbinden</translation>
    </message>
    <message>
      <source>Connect {name} with this key</source>
      <translation>{name} mit diesem Schlüssel verbinden</translation>
    </message>
    <message>
      <source>Connected</source>
      <translation>Verbunden</translation>
    </message>
    <message>
      <source>Connections</source>
      <translation>Verbindungen</translation>
    </message>
    <message>
      <source>Connections…</source>
      <translation>Verbindungen …</translation>
    </message>
    <message>
      <source>Console</source>
      <translation>Konsole</translation>
    </message>
    <message>
      <source>Console of the run</source>
      <translation>Konsole des Laufs</translation>
    </message>
    <message>
      <source>Context</source>
      <translation>Kontext</translation>
    </message>
    <message>
      <source>Context window</source>
      <translation>Kontextfenster</translation>
    </message>
    <message>
      <source>Context, tokens</source>
      <translation>Kontext, Token</translation>
    </message>
    <message>
      <source>Continue</source>
      <translation>Fortsetzen</translation>
    </message>
    <message>
      <source>Continue anyway.</source>
      <translation>Trotzdem fortfahren.</translation>
    </message>
    <message>
      <source>Continue from here</source>
      <translation>Von hier fortfahren</translation>
    </message>
    <message>
      <source>Continue from this point with the model and the tools, on a new branch. The old one is kept.</source>
      <translation>Von dieser Stelle aus mit Modell und Werkzeugen weiter, als neuer Zweig. Was war, bleibt.</translation>
    </message>
    <message>
      <source>Continue the run</source>
      <translation>Den Lauf fortsetzen</translation>
    </message>
    <message>
      <source>Continue this thread… (Return sends)</source>
      <translation>In diesem Gespräch fortfahren … (Eingabe sendet)</translation>
    </message>
    <message>
      <source>Continue with a message</source>
      <translation>Mit einer Nachricht fortfahren</translation>
    </message>
    <message>
      <source>Continue with a message…</source>
      <translation>Mit einer Nachricht fortfahren …</translation>
    </message>
    <message>
      <source>Continue with these observations.</source>
      <translation>Mit diesen Beobachtungen weitermachen.</translation>
    </message>
    <message>
      <source>Continue with this observation.</source>
      <translation>Mit dieser Beobachtung fortfahren.</translation>
    </message>
    <message>
      <source>Continue with {model}</source>
      <translation>Mit {model} fortfahren</translation>
    </message>
    <message>
      <source>Continue without this limit.</source>
      <translation>Ohne diese Grenze fortfahren.</translation>
    </message>
    <message>
      <source>Copied</source>
      <translation>Kopiert</translation>
    </message>
    <message>
      <source>Copy</source>
      <translation>Kopieren</translation>
    </message>
    <message>
      <source>Copy as JSON</source>
      <translation>Als JSON kopieren</translation>
    </message>
    <message>
      <source>Copy as Markdown</source>
      <translation>Als Markdown kopieren</translation>
    </message>
    <message>
      <source>Copy as chat text</source>
      <translation>Als Chattext kopieren</translation>
    </message>
    <message>
      <source>Copy as curl</source>
      <translation>Als curl kopieren</translation>
    </message>
    <message>
      <source>Copy its path</source>
      <translation>Pfad kopieren</translation>
    </message>
    <message>
      <source>Copy message</source>
      <translation>Meldung kopieren</translation>
    </message>
    <message>
      <source>Copy report</source>
      <translation>Bericht kopieren</translation>
    </message>
    <message>
      <source>Copy the addresses</source>
      <translation>Die Adressen kopieren</translation>
    </message>
    <message>
      <source>Copy the answer</source>
      <translation>Antwort kopieren</translation>
    </message>
    <message>
      <source>Copy the line down</source>
      <translation>Zeile nach unten kopieren</translation>
    </message>
    <message>
      <source>Copy the line up</source>
      <translation>Zeile nach oben kopieren</translation>
    </message>
    <message>
      <source>Copy the message</source>
      <translation>Nachricht kopieren</translation>
    </message>
    <message>
      <source>Copy the request</source>
      <translation>Die Anfrage kopieren</translation>
    </message>
    <message>
      <source>Copy this tab</source>
      <translation>Diesen Reiter kopieren</translation>
    </message>
    <message>
      <source>Copy, raw text, probe</source>
      <translation>Kopieren, roher Text, Probe</translation>
    </message>
    <message>
      <source>Correct the file. Saving connections keeps it as connections.broken.toml.</source>
      <translation>Berichtigen Sie die Datei. Beim Speichern von Verbindungen bleibt sie als connections.broken.toml erhalten.</translation>
    </message>
    <message>
      <source>Cost</source>
      <translation>Kosten</translation>
    </message>
    <message>
      <source>Cost and quality</source>
      <translation>Kosten und Qualität</translation>
    </message>
    <message>
      <source>Cost at most</source>
      <translation>Höchstens Kosten</translation>
    </message>
    <message>
      <source>Cost of a cell and rows passed</source>
      <translation>Kosten einer Zelle und bestandene Zeilen</translation>
    </message>
    <message>
      <source>Cost of a run of a prompt's cases above which you are asked.</source>
      <translation>Was ein Lauf der Fälle eines Prompts ohne Rückfrage kosten darf.</translation>
    </message>
    <message>
      <source>Cost of cases</source>
      <translation>Kosten der Fälle</translation>
    </message>
    <message>
      <source>Cost of the cases</source>
      <translation>Kosten der Fälle</translation>
    </message>
    <message>
      <source>Counted with {tokenizer} for {name}.</source>
      <translation>Mit {tokenizer} für {name} gezählt.</translation>
    </message>
    <message>
      <source>Ctrl+Enter: for this file, until the studio is closed</source>
      <translation>Strg+Eingabe: für diese Datei, bis das Studio beendet wird</translation>
    </message>
    <message>
      <source>Current values</source>
      <translation>Jetzige Werte</translation>
    </message>
    <message>
      <source>Current: editor and inputs</source>
      <translation>Aktuell: Editor und Eingaben</translation>
    </message>
    <message>
      <source>Cut</source>
      <translation>Ausschneiden</translation>
    </message>
    <message>
      <source>Cut at a length: truncate(80)</source>
      <translation>Auf eine Länge kürzen: truncate(80)</translation>
    </message>
    <message>
      <source>Cut the reply off</source>
      <translation>Antwort abschneiden</translation>
    </message>
    <message>
      <source>Dark</source>
      <translation>Dunkel</translation>
    </message>
    <message>
      <source>Dark theme</source>
      <translation>Dunkles Thema</translation>
    </message>
    <message>
      <source>Data</source>
      <translation>Daten</translation>
    </message>
    <message>
      <source>Declare</source>
      <translation>Deklarieren</translation>
    </message>
    <message>
      <source>Declare the tool in the prompt, as one undo step</source>
      <translation>Das Werkzeug im Prompt deklarieren, als ein Schritt, der sich rückgängig machen lässt</translation>
    </message>
    <message>
      <source>Declare tools in the front matter, or name a Python file of functions under metadata.agent.tools.</source>
      <translation>Deklarieren Sie Werkzeuge im Kopf der Datei, oder nennen Sie unter metadata.agent.tools eine Python-Datei mit Funktionen.</translation>
    </message>
    <message>
      <source>Declared</source>
      <translation>Deklariert</translation>
    </message>
    <message>
      <source>Declared in the prompt</source>
      <translation>Im Prompt deklariert</translation>
    </message>
    <message>
      <source>Decline</source>
      <translation>Ablehnen</translation>
    </message>
    <message>
      <source>Default</source>
      <translation>Standard</translation>
    </message>
    <message>
      <source>Default text size</source>
      <translation>Übliche Textgröße</translation>
    </message>
    <message>
      <source>Default: &lt;code&gt;{default}&lt;/code&gt;</source>
      <translation>Vorgabe: &lt;code&gt;{default}&lt;/code&gt;</translation>
    </message>
    <message>
      <source>Definition</source>
      <translation>Definition</translation>
    </message>
    <message>
      <source>Delete</source>
      <translation>Löschen</translation>
    </message>
    <message>
      <source>Delete connection</source>
      <translation>Verbindung löschen</translation>
    </message>
    <message>
      <source>Delete for good</source>
      <translation>Endgültig löschen</translation>
    </message>
    <message>
      <source>Delete from history</source>
      <translation>Aus dem Verlauf löschen</translation>
    </message>
    <message>
      <source>Delete runs older than</source>
      <translation>Läufe löschen, die älter sind als</translation>
    </message>
    <message>
      <source>Delete the connection {name!r}?</source>
      <translation>Die Verbindung {name!r} löschen?</translation>
    </message>
    <message>
      <source>Delete the line</source>
      <translation>Zeile löschen</translation>
    </message>
    <message>
      <source>Delete the stored key</source>
      <translation>Den Schlüssel dort entfernen, wo er liegt</translation>
    </message>
    <message>
      <source>Delete {what}?</source>
      <translation>{what} löschen?</translation>
    </message>
    <message>
      <source>Delete “{current}”</source>
      <translation>„{current}“ löschen</translation>
    </message>
    <message>
      <source>Delete…</source>
      <translation>Löschen …</translation>
    </message>
    <message>
      <source>Desktop</source>
      <translation>Desktop</translation>
    </message>
    <message>
      <source>Details</source>
      <translation>Details</translation>
    </message>
    <message>
      <source>Details of the run</source>
      <translation>Einzelheiten des Laufs</translation>
    </message>
    <message>
      <source>Details of the step</source>
      <translation>Seiten des Schritts</translation>
    </message>
    <message>
      <source>Dialect</source>
      <translation>Dialekt</translation>
    </message>
    <message>
      <source>Diff</source>
      <translation>Vergleich</translation>
    </message>
    <message>
      <source>Difference</source>
      <translation>Unterschied</translation>
    </message>
    <message>
      <source>Differences</source>
      <translation>Unterschiede</translation>
    </message>
    <message>
      <source>Different rows: {count}; improving needs at least {least}, and several dozen for a reliable result.</source>
      <translation>Verschiedene Zeilen: {count}; zum Verbessern sind mindestens {least} nötig, für ein verlässliches Ergebnis einige Dutzend.</translation>
    </message>
    <message>
      <source>Direction</source>
      <translation>Richtung</translation>
    </message>
    <message>
      <source>Do not offer to the model</source>
      <translation>Dem Modell nicht anbieten</translation>
    </message>
    <message>
      <source>Do not run it, and give its result.</source>
      <translation>Nicht ausführen, sondern sein Ergebnis geben.</translation>
    </message>
    <message>
      <source>Do not run it, and tell the model the reason.</source>
      <translation>Nicht ausführen und dem Modell sagen, warum.</translation>
    </message>
    <message>
      <source>Do not run it, and tell the model.</source>
      <translation>Nicht ausführen und es dem Modell mitteilen.</translation>
    </message>
    <message>
      <source>Do not send</source>
      <translation>Nicht senden</translation>
    </message>
    <message>
      <source>Done</source>
      <translation>Fertig</translation>
    </message>
    <message>
      <source>Download the model ({size} MB)</source>
      <translation>Das Modell holen ({size} MB)</translation>
    </message>
    <message>
      <source>Download the newest table from genai-prices</source>
      <translation>Die neueste Tabelle holen, die genai-prices veröffentlicht hat</translation>
    </message>
    <message>
      <source>Downloading the model</source>
      <translation>Das Modell wird geholt</translation>
    </message>
    <message>
      <source>Downloading {name}: {done}</source>
      <translation>{name} wird geholt: {done}</translation>
    </message>
    <message>
      <source>Downloading {name}: {done} of {whole}</source>
      <translation>{name} wird geholt: {done} von {whole}</translation>
    </message>
    <message>
      <source>Drag, or use Left and Right, to go through the run</source>
      <translation>Ziehen, oder mit Links und Rechts durch den Lauf gehen</translation>
    </message>
    <message>
      <source>Duplicate</source>
      <translation>Duplizieren</translation>
    </message>
    <message>
      <source>Duration</source>
      <translation>Dauer</translation>
    </message>
    <message>
      <source>Each item once</source>
      <translation>Jeden Eintrag einmal</translation>
    </message>
    <message>
      <source>Each reply has a valid format.</source>
      <translation>Jede Antwort hat die Form, die ein Lauf lesen kann.</translation>
    </message>
    <message>
      <source>Earlier calls</source>
      <translation>Früher versuchte Aufrufe</translation>
    </message>
    <message>
      <source>Edit MCP server</source>
      <translation>MCP-Server bearbeiten</translation>
    </message>
    <message>
      <source>Edit arguments…</source>
      <translation>Argumente bearbeiten …</translation>
    </message>
    <message>
      <source>Edit file</source>
      <translation>Datei bearbeiten</translation>
    </message>
    <message>
      <source>Edit messages…</source>
      <translation>Nachrichten bearbeiten …</translation>
    </message>
    <message>
      <source>Edit observation…</source>
      <translation>Beobachtung bearbeiten …</translation>
    </message>
    <message>
      <source>Edit prompt</source>
      <translation>Prompt bearbeiten</translation>
    </message>
    <message>
      <source>Edit the answer…</source>
      <translation>Die Antwort bearbeiten …</translation>
    </message>
    <message>
      <source>Edit the arguments…</source>
      <translation>Die Argumente bearbeiten …</translation>
    </message>
    <message>
      <source>Edit the default</source>
      <translation>Vorgabe bearbeiten</translation>
    </message>
    <message>
      <source>Edit the message to the model…</source>
      <translation>Nachricht an das Modell bearbeiten …</translation>
    </message>
    <message>
      <source>Edit the messages…</source>
      <translation>Die Nachrichten bearbeiten …</translation>
    </message>
    <message>
      <source>Edit the observation…</source>
      <translation>Die Beobachtung bearbeiten …</translation>
    </message>
    <message>
      <source>Edit the parts of {name}</source>
      <translation>Die Teile von {name} bearbeiten</translation>
    </message>
    <message>
      <source>Edit the reply…</source>
      <translation>Die Modellantwort bearbeiten …</translation>
    </message>
    <message>
      <source>Edit the sample</source>
      <translation>Das Beispiel bearbeiten</translation>
    </message>
    <message>
      <source>Edit the values as JSON</source>
      <translation>Die Werte als JSON bearbeiten</translation>
    </message>
    <message>
      <source>Edited text</source>
      <translation>Bearbeiteter Text</translation>
    </message>
    <message>
      <source>Editor</source>
      <translation>Editor</translation>
    </message>
    <message>
      <source>Editor gutter: breakpoints, line numbers and folds</source>
      <translation>Rand des Editors: Haltepunkte, Zeilennummern und Klappstellen</translation>
    </message>
    <message>
      <source>Edit…</source>
      <translation>Bearbeiten …</translation>
    </message>
    <message>
      <source>Effects</source>
      <translation>Wirkungen</translation>
    </message>
    <message>
      <source>Embedded model</source>
      <translation>Eingebettetes Modell</translation>
    </message>
    <message>
      <source>Empty</source>
      <translation>Leer</translation>
    </message>
    <message>
      <source>Empty conversation</source>
      <translation>Leeres Gespräch</translation>
    </message>
    <message>
      <source>Empty list</source>
      <translation>Leere Liste</translation>
    </message>
    <message>
      <source>Empty text</source>
      <translation>Leerer Text</translation>
    </message>
    <message>
      <source>Empty: the model gets a message with no text.</source>
      <translation>Leer: das Modell bekommt eine Nachricht ohne Text.</translation>
    </message>
    <message>
      <source>Empty: the v1 API, which has no versions</source>
      <translation>Keine: die v1-API, die keine Versionen hat</translation>
    </message>
    <message>
      <source>Encoding and line ends</source>
      <translation>Kodierung und Zeilenenden</translation>
    </message>
    <message>
      <source>End</source>
      <translation>Ende</translation>
    </message>
    <message>
      <source>End the run here.</source>
      <translation>Den Lauf hier beenden.</translation>
    </message>
    <message>
      <source>End the run with this answer.</source>
      <translation>Den Lauf mit dieser Antwort beenden.</translation>
    </message>
    <message>
      <source>End the run; it stays in History</source>
      <translation>Den Lauf beenden; er bleibt im Verlauf</translation>
    </message>
    <message>
      <source>End the tour</source>
      <translation>Rundgang beenden</translation>
    </message>
    <message>
      <source>Ended at a limit</source>
      <translation>An einer Grenze beendet</translation>
    </message>
    <message>
      <source>Ended without a complete answer</source>
      <translation>Ohne vollständige Antwort beendet</translation>
    </message>
    <message>
      <source>Ends for</source>
      <translation>Beendet for</translation>
    </message>
    <message>
      <source>Ends if</source>
      <translation>Beendet if</translation>
    </message>
    <message>
      <source>Ends macro</source>
      <translation>Beendet macro</translation>
    </message>
    <message>
      <source>Ends raw</source>
      <translation>Beendet raw</translation>
    </message>
    <message>
      <source>Enter</source>
      <translation>Eingabe</translation>
    </message>
    <message>
      <source>Enter renames it everywhere, Esc cancels</source>
      <translation>Enter benennt überall um, Esc lässt es</translation>
    </message>
    <message>
      <source>Enter the address before it can be used.</source>
      <translation>Geben Sie die Adresse ein, bevor sie benutzt werden kann.</translation>
    </message>
    <message>
      <source>Enter the address first.</source>
      <translation>Geben Sie zuerst die Adresse ein.</translation>
    </message>
    <message>
      <source>Enter the missing secret; it is kept until the studio exits.</source>
      <translation>Geben Sie das Geheimnis ein, das hier nicht gesetzt ist; es wird behalten, bis das Studio endet.</translation>
    </message>
    <message>
      <source>Enter the name of the variable that holds the key.</source>
      <translation>Geben Sie den Namen der Variablen ein, die den Schlüssel enthält.</translation>
    </message>
    <message>
      <source>Enter the name of your deployment first: Azure identifies models by it.</source>
      <translation>Geben Sie zuerst den Namen Ihrer Bereitstellung ein: Azure nennt ein Modell danach.</translation>
    </message>
    <message>
      <source>Enter true or false.</source>
      <translation>Hier wird true oder false gebraucht.</translation>
    </message>
    <message>
      <source>Environment variables are not read in a text: use `vars`.</source>
      <translation>Umgebungsvariablen werden in einem Text nicht gelesen: Nennen Sie die Variable unter `vars`.</translation>
    </message>
    <message>
      <source>Environment variables that may be read</source>
      <translation>Umgebungsvariablen, die gelesen werden dürfen</translation>
    </message>
    <message>
      <source>Equal</source>
      <translation>Gleich gut</translation>
    </message>
    <message>
      <source>Error</source>
      <translation>Fehler</translation>
    </message>
    <message>
      <source>Error for the model</source>
      <translation>Fehler für das Modell</translation>
    </message>
    <message>
      <source>Error stream</source>
      <translation>Fehlerausgabe</translation>
    </message>
    <message>
      <source>Errors</source>
      <translation>Fehler</translation>
    </message>
    <message>
      <source>Estimated as a quarter of the characters. The status bar uses the tokenizer.</source>
      <translation>Geschätzt als ein Viertel der Zeichen. Die Statusleiste verwendet den Tokenizer.</translation>
    </message>
    <message>
      <source>Estimated from the length: exact once the embedded model runs.</source>
      <translation>Aus der Länge geschätzt: genau, sobald das eingebettete Modell läuft.</translation>
    </message>
    <message>
      <source>Estimated from the length: {why}</source>
      <translation>Aus der Länge geschätzt: {why}</translation>
    </message>
    <message>
      <source>Evaluate an expression: args, tokens.total …</source>
      <translation>Einen Ausdruck auswerten: args, tokens.total …</translation>
    </message>
    <message>
      <source>Every field of the example is declared already.</source>
      <translation>Jedes Feld des Beispiels ist schon deklariert.</translation>
    </message>
    <message>
      <source>Every run is saved, up to its last step. Open, compare or export runs.</source>
      <translation>Jeder Lauf wird bis zu seinem letzten Schritt behalten. Öffnen Sie einen wieder, vergleichen Sie zwei, oder exportieren Sie sie.</translation>
    </message>
    <message>
      <source>Example: {name}</source>
      <translation>Beispiel: {name}</translation>
    </message>
    <message>
      <source>Examples of actions</source>
      <translation>Beispiele für Aktionen</translation>
    </message>
    <message>
      <source>Exit code {code}.</source>
      <translation>Rückgabewert {code}.</translation>
    </message>
    <message>
      <source>Expand the selection</source>
      <translation>Auswahl erweitern</translation>
    </message>
    <message>
      <source>Expect this</source>
      <translation>Dies erwarten</translation>
    </message>
    <message>
      <source>Experiment</source>
      <translation>Experiment</translation>
    </message>
    <message>
      <source>Experiment {name}</source>
      <translation>Experiment {name}</translation>
    </message>
    <message>
      <source>Experiments (*.experiment.yaml *.experiment.yml)</source>
      <translation>Experimente (*.experiment.yaml *.experiment.yml)</translation>
    </message>
    <message>
      <source>Export</source>
      <translation>Exportieren</translation>
    </message>
    <message>
      <source>Export the answers</source>
      <translation>Antworten schreiben</translation>
    </message>
    <message>
      <source>Export the answers…</source>
      <translation>Die Antworten exportieren …</translation>
    </message>
    <message>
      <source>Export the result</source>
      <translation>Ergebnis exportieren</translation>
    </message>
    <message>
      <source>Export this run…</source>
      <translation>Diesen Lauf exportieren …</translation>
    </message>
    <message>
      <source>Export {title}</source>
      <translation>{title} exportieren</translation>
    </message>
    <message>
      <source>Export: {label}</source>
      <translation>Exportieren: {label}</translation>
    </message>
    <message>
      <source>Exported {name}.</source>
      <translation>{name} exportiert.</translation>
    </message>
    <message>
      <source>Export…</source>
      <translation>Exportieren …</translation>
    </message>
    <message>
      <source>Expression</source>
      <translation>Ausdruck</translation>
    </message>
    <message>
      <source>Expression to evaluate at the shown point</source>
      <translation>Ausdruck, der im gezeigten Moment ausgewertet wird</translation>
    </message>
    <message>
      <source>F5 and F10 apply to the open prompt. The run is not affected.</source>
      <translation>F5 und F10 gelten dem offenen Prompt. Der Lauf bleibt, wie er ist.</translation>
    </message>
    <message>
      <source>Facts from</source>
      <translation>Angaben von</translation>
    </message>
    <message>
      <source>Fail</source>
      <translation>Nicht bestanden</translation>
    </message>
    <message>
      <source>Failed</source>
      <translation>Nicht bestanden</translation>
    </message>
    <message>
      <source>Failed gates: {names}.</source>
      <translation>Schranken, die nicht halten: {names}.</translation>
    </message>
    <message>
      <source>Faults</source>
      <translation>Fehler mit Absicht</translation>
    </message>
    <message>
      <source>Fenced code</source>
      <translation>Eingezäunter Code</translation>
    </message>
    <message>
      <source>Fetching …</source>
      <translation>Wird geholt …</translation>
    </message>
    <message>
      <source>Figures of both</source>
      <translation>Zahlen beider Seiten</translation>
    </message>
    <message>
      <source>Figures of the runs</source>
      <translation>Kennzahlen der Läufe</translation>
    </message>
    <message>
      <source>File of cases</source>
      <translation>Datei der Fälle</translation>
    </message>
    <message>
      <source>File to write</source>
      <translation>Zu schreibende Datei</translation>
    </message>
    <message>
      <source>Files</source>
      <translation>Dateien</translation>
    </message>
    <message>
      <source>Files of {name}</source>
      <translation>Dateien von {name}</translation>
    </message>
    <message>
      <source>Files that may be run or read</source>
      <translation>Dateien, die ausgeführt oder gelesen werden dürfen</translation>
    </message>
    <message>
      <source>Files that only speed up the studio; you may delete them.</source>
      <translation>Dateien, die nur der Geschwindigkeit dienen; dürfen gelöscht werden.</translation>
    </message>
    <message>
      <source>Fill it in under Inputs, or run with the samples of the preview: {names}.</source>
      <translation>Füllen Sie es unter Eingaben aus, oder führen Sie den Prompt mit dem aus, was die Vorschau zeigt: {names}.</translation>
    </message>
    <message>
      <source>Fill it in under Inputs, then run again.</source>
      <translation>Füllen Sie es unter Eingaben aus, dann führen Sie noch einmal aus.</translation>
    </message>
    <message>
      <source>Filter by name</source>
      <translation>Nach Namen filtern</translation>
    </message>
    <message>
      <source>Filter by prompt, question, answer, model, tag or note</source>
      <translation>Nach Prompt, Frage, Antwort, Modell, Stichwort oder Notiz filtern</translation>
    </message>
    <message>
      <source>Filter by words of the messages</source>
      <translation>Nach Wörtern der Nachrichten filtern</translation>
    </message>
    <message>
      <source>Filter files by name</source>
      <translation>Dateien nach Namen filtern</translation>
    </message>
    <message>
      <source>Filter rows</source>
      <translation>Zeilen filtern</translation>
    </message>
    <message>
      <source>Filter runs</source>
      <translation>Läufe filtern</translation>
    </message>
    <message>
      <source>Final</source>
      <translation>Ende</translation>
    </message>
    <message>
      <source>Final answer</source>
      <translation>Endgültige Antwort</translation>
    </message>
    <message>
      <source>Find</source>
      <translation>Suchen</translation>
    </message>
    <message>
      <source>Find in files</source>
      <translation>In Dateien suchen</translation>
    </message>
    <message>
      <source>Find in files…</source>
      <translation>In Dateien suchen …</translation>
    </message>
    <message>
      <source>Find in the files of {name}</source>
      <translation>In den Dateien von {name} suchen</translation>
    </message>
    <message>
      <source>Find in the run…</source>
      <translation>Im Lauf suchen …</translation>
    </message>
    <message>
      <source>Find in the whole run</source>
      <translation>Im ganzen Lauf suchen</translation>
    </message>
    <message>
      <source>Find in the whole run (Ctrl+F in the timeline)</source>
      <translation>Im ganzen Lauf suchen (Strg+F in der Zeitleiste)</translation>
    </message>
    <message>
      <source>Find in this tab</source>
      <translation>In diesem Reiter suchen</translation>
    </message>
    <message>
      <source>Find next</source>
      <translation>Weitersuchen</translation>
    </message>
    <message>
      <source>Find previous</source>
      <translation>Rückwärts suchen</translation>
    </message>
    <message>
      <source>Find uses…</source>
      <translation>Verwendungen suchen …</translation>
    </message>
    <message>
      <source>First difference: {difference}</source>
      <translation>Erster Unterschied: {difference}</translation>
    </message>
    <message>
      <source>First letter in capitals</source>
      <translation>Erster Buchstabe groß</translation>
    </message>
    <message>
      <source>First word</source>
      <translation>Erstes Wort</translation>
    </message>
    <message>
      <source>Fix</source>
      <translation>Beheben</translation>
    </message>
    <message>
      <source>Fix it, then run again.</source>
      <translation>Beheben Sie ihn, dann führen Sie noch einmal aus.</translation>
    </message>
    <message>
      <source>Fix its address, its key or its account.</source>
      <translation>Beheben Sie Adresse, Schlüssel oder Konto.</translation>
    </message>
    <message>
      <source>Fix the errors below, or accept each kind</source>
      <translation>Beheben Sie die Fehler unten, oder stimmen Sie jeder Art zu</translation>
    </message>
    <message>
      <source>Fixed-width fonts.</source>
      <translation>Schriften fester Breite.</translation>
    </message>
    <message>
      <source>Flaky</source>
      <translation>Schwankend</translation>
    </message>
    <message>
      <source>Fold all</source>
      <translation>Alles einklappen</translation>
    </message>
    <message>
      <source>Fold here</source>
      <translation>Hier einklappen</translation>
    </message>
    <message>
      <source>Fold or unfold here</source>
      <translation>Hier ein- oder ausklappen</translation>
    </message>
    <message>
      <source>Fold or unfold the inputs</source>
      <translation>Eingaben ein- oder ausklappen</translation>
    </message>
    <message>
      <source>Fold the inputs to one line, or show them</source>
      <translation>Die Eingaben auf eine Zeile einklappen, oder zeigen</translation>
    </message>
    <message>
      <source>Fold this iteration</source>
      <translation>Diesen Durchgang einklappen</translation>
    </message>
    <message>
      <source>Fold variables and console</source>
      <translation>Variablen und Konsole einklappen</translation>
    </message>
    <message>
      <source>Folder</source>
      <translation>Ordner</translation>
    </message>
    <message>
      <source>Folder of the certificates</source>
      <translation>Ordner der Zertifikate</translation>
    </message>
    <message>
      <source>Folders with settings, runs and unsaved text</source>
      <translation>Einstellungen, Läufe und nicht gespeicherter Text: in welchen Ordnern sie liegen</translation>
    </message>
    <message>
      <source>Follow the run</source>
      <translation>Beim Lauf bleiben, während er weitergeht</translation>
    </message>
    <message>
      <source>Font of the editor</source>
      <translation>Schrift des Editors</translation>
    </message>
    <message>
      <source>Font of the interface</source>
      <translation>Schrift der Oberfläche</translation>
    </message>
    <message>
      <source>For an address</source>
      <translation>Für eine Adresse</translation>
    </message>
    <message>
      <source>For this session only</source>
      <translation>Nur für diese Sitzung</translation>
    </message>
    <message>
      <source>Forget</source>
      <translation>Vergessen</translation>
    </message>
    <message>
      <source>Format it in the standard form</source>
      <translation>In die übliche Form bringen</translation>
    </message>
    <message>
      <source>Format of the request</source>
      <translation>Form der Anfrage</translation>
    </message>
    <message>
      <source>Forms</source>
      <translation>Formen</translation>
    </message>
    <message>
      <source>Forward</source>
      <translation>Vorwärts</translation>
    </message>
    <message>
      <source>From  {before}
to  {after}</source>
      <translation>Von  {before}
zu  {after}</translation>
    </message>
    <message>
      <source>From cache</source>
      <translation>Aus dem Zwischenspeicher</translation>
    </message>
    <message>
      <source>From history, {when}</source>
      <translation>Aus dem Verlauf, {when}</translation>
    </message>
    <message>
      <source>From the package index that pip uses; verified, and stored with the settings</source>
      <translation>Aus dem Paketverzeichnis, das pip benutzt, geprüft und bei den Einstellungen behalten</translation>
    </message>
    <message>
      <source>Front matter</source>
      <translation>Kopf des Prompts</translation>
    </message>
    <message>
      <source>Front matter above, the messages below. Problems are underlined as you type, Ctrl+Space completes, Ctrl+. fixes.</source>
      <translation>Oben die Kopfdaten, darunter die Nachrichten. Probleme werden beim Tippen unterstrichen, Strg+Leertaste vervollständigt, Strg+. hilft ab.</translation>
    </message>
    <message>
      <source>Front matter as a form…</source>
      <translation>Kopf als Formular …</translation>
    </message>
    <message>
      <source>GGUF file</source>
      <translation>GGUF-Datei</translation>
    </message>
    <message>
      <source>GGUF files, also later; links are not followed</source>
      <translation>GGUF-Dateien, auch später; Verknüpfungen wird nicht gefolgt</translation>
    </message>
    <message>
      <source>Generate rows</source>
      <translation>Zeilen erfinden</translation>
    </message>
    <message>
      <source>Generating one kind after another…</source>
      <translation>Eine Art nach der anderen wird erfragt …</translation>
    </message>
    <message>
      <source>Git does not respond.</source>
      <translation>git antwortet nicht.</translation>
    </message>
    <message>
      <source>Git is not installed; it is needed for earlier revisions.</source>
      <translation>git ist nicht installiert; es findet frühere Stände.</translation>
    </message>
    <message>
      <source>Git refuses to read this repository: its files belong to another user.</source>
      <translation>Git liest dieses Repository nicht: Seine Dateien gehören jemand anderem.</translation>
    </message>
    <message>
      <source>Git refuses to read this repository…</source>
      <translation>Git liest dieses Repository nicht …</translation>
    </message>
    <message>
      <source>Git revision</source>
      <translation>Git-Revision</translation>
    </message>
    <message>
      <source>Git revision…</source>
      <translation>Git-Revision …</translation>
    </message>
    <message>
      <source>Give</source>
      <translation>Geben</translation>
    </message>
    <message>
      <source>Give it a name.</source>
      <translation>Geben Sie ihr einen Namen.</translation>
    </message>
    <message>
      <source>Give the value…</source>
      <translation>Den Wert angeben …</translation>
    </message>
    <message>
      <source>Give to a colleague</source>
      <translation>Weitergeben</translation>
    </message>
    <message>
      <source>Give {number} of 5 points (Alt+{number})</source>
      <translation>{number} von 5 Punkten geben (Alt+{number})</translation>
    </message>
    <message>
      <source>Go back here</source>
      <translation>Hierher zurück</translation>
    </message>
    <message>
      <source>Go back to the request on a new branch and change it.</source>
      <translation>Zur Anfrage zurückgehen, als neuer Zweig, und sie anders schreiben.</translation>
    </message>
    <message>
      <source>Go back to this point</source>
      <translation>Zu dieser Stelle zurückgehen</translation>
    </message>
    <message>
      <source>Go back to this point on a new branch  ({keys})</source>
      <translation>Zu dieser Stelle zurückgehen, als neuer Zweig  ({keys})</translation>
    </message>
    <message>
      <source>Go on</source>
      <translation>Weiter</translation>
    </message>
    <message>
      <source>Go on.</source>
      <translation>Fortfahren.</translation>
    </message>
    <message>
      <source>Go to Files</source>
      <translation>Zu den Dateien</translation>
    </message>
    <message>
      <source>Go to a line</source>
      <translation>Zu einer Zeile gehen</translation>
    </message>
    <message>
      <source>Go to definition</source>
      <translation>Zur Definition</translation>
    </message>
    <message>
      <source>Go to file</source>
      <translation>Zu Datei</translation>
    </message>
    <message>
      <source>Go to file…</source>
      <translation>Zu Datei …</translation>
    </message>
    <message>
      <source>Go to its text</source>
      <translation>Zum Text dazu</translation>
    </message>
    <message>
      <source>Go to line…</source>
      <translation>Zu Zeile …</translation>
    </message>
    <message>
      <source>Go to symbol</source>
      <translation>Zu Symbol</translation>
    </message>
    <message>
      <source>Go to symbol…</source>
      <translation>Zu Symbol …</translation>
    </message>
    <message>
      <source>Go to the breadcrumbs</source>
      <translation>Zur Pfadleiste</translation>
    </message>
    <message>
      <source>Go to the editor</source>
      <translation>Zum Editor</translation>
    </message>
    <message>
      <source>Go to the field of {name}</source>
      <translation>Zum Feld von {name}</translation>
    </message>
    <message>
      <source>Go to the other bracket</source>
      <translation>Zur anderen Klammer</translation>
    </message>
    <message>
      <source>Go to the other side</source>
      <translation>Zur anderen Seite</translation>
    </message>
    <message>
      <source>Go to the problems</source>
      <translation>Zu den Problemen</translation>
    </message>
    <message>
      <source>Go to the result of {tool}</source>
      <translation>Weiter zum Ergebnis von {tool}</translation>
    </message>
    <message>
      <source>Go to the run</source>
      <translation>Zum Lauf</translation>
    </message>
    <message>
      <source>Go to where the tool is defined</source>
      <translation>Dorthin gehen, wo das Werkzeug definiert ist</translation>
    </message>
    <message>
      <source>Go to {tool}</source>
      <translation>Weiter zu {tool}</translation>
    </message>
    <message>
      <source>Google Gemini</source>
      <translation>Google Gemini</translation>
    </message>
    <message>
      <source>Group runs by prompt, model, day or recording</source>
      <translation>Läufe nach Prompt, Modell, Tag oder Aufzeichnung gruppieren</translation>
    </message>
    <message>
      <source>Groups of runs</source>
      <translation>Gruppen von Läufen</translation>
    </message>
    <message>
      <source>Guide the run with your own message.</source>
      <translation>Den Lauf mit einer eigenen Nachricht lenken.</translation>
    </message>
    <message>
      <source>Guided</source>
      <translation>Geführt</translation>
    </message>
    <message>
      <source>HTTP method of an operation</source>
      <translation>HTTP-Methode einer Operation</translation>
    </message>
    <message>
      <source>Headers</source>
      <translation>Kopfzeilen</translation>
    </message>
    <message>
      <source>Help</source>
      <translation>Hilfe</translation>
    </message>
    <message>
      <source>Hide all panes, or show them</source>
      <translation>Alle Bereiche verbergen oder zeigen</translation>
    </message>
    <message>
      <source>Hide what has not changed since the previous step</source>
      <translation>Einklappen, was gleich ist wie im Schritt davor</translation>
    </message>
    <message>
      <source>History</source>
      <translation>Verlauf</translation>
    </message>
    <message>
      <source>History of runs</source>
      <translation>Verlauf der Läufe</translation>
    </message>
    <message>
      <source>Hit count</source>
      <translation>Trefferzahl</translation>
    </message>
    <message>
      <source>Hold the first call</source>
      <translation>Den ersten Aufruf anhalten</translation>
    </message>
    <message>
      <source>Hold the first call of each conversation</source>
      <translation>Den ersten Aufruf jedes Gesprächs anhalten</translation>
    </message>
    <message>
      <source>Hold, step and record the model calls of any program</source>
      <translation>Die Aufrufe eines beliebigen Programms an seine Modelle anhalten, in Schritten ausführen und behalten</translation>
    </message>
    <message>
      <source>How deep a recursive loop is, from 0.</source>
      <translation>Wie tief eine rekursive Schleife ist, ab 0.</translation>
    </message>
    <message>
      <source>How deep a recursive loop is, from 1.</source>
      <translation>Wie tief eine rekursive Schleife ist, ab 1.</translation>
    </message>
    <message>
      <source>How each provider and protocol sends it</source>
      <translation>Was jeder Anbieter und jedes Protokoll davon sendet</translation>
    </message>
    <message>
      <source>How many</source>
      <translation>Wie viele</translation>
    </message>
    <message>
      <source>How many items are left behind this one.</source>
      <translation>Wie viele Einträge nach diesem noch kommen.</translation>
    </message>
    <message>
      <source>How many items are left, this one counted.</source>
      <translation>Wie viele Einträge noch kommen, dieser mitgezählt.</translation>
    </message>
    <message>
      <source>How many items there are.</source>
      <translation>Wie viele Einträge es gibt.</translation>
    </message>
    <message>
      <source>How many words</source>
      <translation>Wie viele Wörter</translation>
    </message>
    <message>
      <source>How much the studio guides the model; larger models need no guidance.</source>
      <translation>Wie viel für das Modell entschieden wird; richtige Modelle brauchen nichts davon.</translation>
    </message>
    <message>
      <source>How the call ends</source>
      <translation>Wie der Aufruf endet</translation>
    </message>
    <message>
      <source>How the tool has changed</source>
      <translation>Wie sich das Werkzeug geändert hat</translation>
    </message>
    <message>
      <source>If off, you are asked once when quitting.</source>
      <translation>Sonst fragt das Beenden einmal, was aus ihnen wird.</translation>
    </message>
    <message>
      <source>If you trust it: {command}</source>
      <translation>Wenn Sie ihm vertrauen: {command}</translation>
    </message>
    <message>
      <source>Images</source>
      <translation>Bilder</translation>
    </message>
    <message>
      <source>Import</source>
      <translation>Importieren</translation>
    </message>
    <message>
      <source>Import a prompt from another format</source>
      <translation>Aus einem anderen Format einen Prompt machen</translation>
    </message>
    <message>
      <source>Import runs</source>
      <translation>Läufe importieren</translation>
    </message>
    <message>
      <source>Import runs from exported journals</source>
      <translation>Läufe aufnehmen, die als Journale exportiert wurden</translation>
    </message>
    <message>
      <source>Import {name}</source>
      <translation>{name} importieren</translation>
    </message>
    <message>
      <source>Imported {name}.</source>
      <translation>{name} importiert.</translation>
    </message>
    <message>
      <source>Import…</source>
      <translation>Importieren …</translation>
    </message>
    <message>
      <source>Improve a section</source>
      <translation>Einen Abschnitt verbessern</translation>
    </message>
    <message>
      <source>Improve a section…</source>
      <translation>Einen Abschnitt verbessern …</translation>
    </message>
    <message>
      <source>Improving needs gepa: pip install 'prompt-studio[improve]'.</source>
      <translation>Das Verbessern braucht gepa: pip install 'prompt-studio[improve]'.</translation>
    </message>
    <message>
      <source>In a separate window</source>
      <translation>In einem eigenen Fenster</translation>
    </message>
    <message>
      <source>In an environment variable</source>
      <translation>In einer Umgebungsvariablen</translation>
    </message>
    <message>
      <source>In batches</source>
      <translation>In Batches</translation>
    </message>
    <message>
      <source>In blind comparisons, {one} was better {first} times, {other} {second} times</source>
      <translation>Ohne Namen war {one} {first}-mal besser, {other} {second}-mal</translation>
    </message>
    <message>
      <source>In capitals</source>
      <translation>In Großbuchstaben</translation>
    </message>
    <message>
      <source>In gray, after each line</source>
      <translation>In Grau, hinter jeder Zeile</translation>
    </message>
    <message>
      <source>In groups: batch(3)</source>
      <translation>In Gruppen: batch(3)</translation>
    </message>
    <message>
      <source>In small letters</source>
      <translation>In Kleinbuchstaben</translation>
    </message>
    <message>
      <source>In the prompt</source>
      <translation>Im Prompt</translation>
    </message>
    <message>
      <source>In the system's key store</source>
      <translation>Im Schlüsselspeicher des Systems</translation>
    </message>
    <message>
      <source>Indent the lines</source>
      <translation>Zeilen einrücken</translation>
    </message>
    <message>
      <source>Indent the lines: indent(2)</source>
      <translation>Zeilen einrücken: indent(2)</translation>
    </message>
    <message>
      <source>Injection</source>
      <translation>Injection</translation>
    </message>
    <message>
      <source>Injections found by the probe</source>
      <translation>Von der Probe gefundene Lücken</translation>
    </message>
    <message>
      <source>Input</source>
      <translation>Eingabe</translation>
    </message>
    <message>
      <source>Input set after</source>
      <translation>Nächster Eingabesatz</translation>
    </message>
    <message>
      <source>Input set before</source>
      <translation>Voriger Eingabesatz</translation>
    </message>
    <message>
      <source>Input sets</source>
      <translation>Eingabesätze</translation>
    </message>
    <message>
      <source>Input sets: save the prompt first</source>
      <translation>Eingabesätze: speichern Sie den Prompt zuerst</translation>
    </message>
    <message>
      <source>Input sets: {kept}</source>
      <translation>Eingabesätze: {kept}</translation>
    </message>
    <message>
      <source>Input {name}</source>
      <translation>Eingabe {name}</translation>
    </message>
    <message>
      <source>Inputs</source>
      <translation>Eingaben</translation>
    </message>
    <message>
      <source>Inputs and preview</source>
      <translation>Eingaben und Vorschau</translation>
    </message>
    <message>
      <source>Inputs supplied by the run: {names}</source>
      <translation>Vom Lauf gelieferte Eingaben: {names}</translation>
    </message>
    <message>
      <source>Inputs “{name}”</source>
      <translation>Eingaben „{name}“</translation>
    </message>
    <message>
      <source>Insert</source>
      <translation>Einfügen</translation>
    </message>
    <message>
      <source>Insert a message</source>
      <translation>Eine Nachricht einfügen</translation>
    </message>
    <message>
      <source>Insert a message…</source>
      <translation>Eine Nachricht einfügen …</translation>
    </message>
    <message>
      <source>Insert into the prompt</source>
      <translation>In den Prompt einfügen</translation>
    </message>
    <message>
      <source>Insert snippet</source>
      <translation>Baustein einfügen</translation>
    </message>
    <message>
      <source>Insert snippet…</source>
      <translation>Baustein einfügen …</translation>
    </message>
    <message>
      <source>Instructions</source>
      <translation>Anweisungen</translation>
    </message>
    <message>
      <source>Instructions for newer models</source>
      <translation>Anweisungen für neuere Modelle</translation>
    </message>
    <message>
      <source>Instructions for the model</source>
      <translation>Anweisungen an das Modell</translation>
    </message>
    <message>
      <source>Instructions, as newer models call them</source>
      <translation>Anweisungen, wie neuere Modelle sie nennen</translation>
    </message>
    <message>
      <source>Interrupted</source>
      <translation>Unterbrochen</translation>
    </message>
    <message>
      <source>It adds expressions: {names}.</source>
      <translation>Er fügt Ausdrücke hinzu: {names}.</translation>
    </message>
    <message>
      <source>It adds or removes a role: {names}.</source>
      <translation>Er fügt eine Rolle hinzu oder entfernt eine: {names}.</translation>
    </message>
    <message>
      <source>It adds over 20 KB to each request.</source>
      <translation>Es belegt über 20 KB jeder Anfrage.</translation>
    </message>
    <message>
      <source>It can be looped over</source>
      <translation>Es lässt sich durchlaufen</translation>
    </message>
    <message>
      <source>It cannot be added to the file automatically; write it yourself.</source>
      <translation>Es lässt sich der Datei nicht hinzufügen; schreibe es von Hand.</translation>
    </message>
    <message>
      <source>It cannot be distinguished from chance ({p}).</source>
      <translation>Es ist von Zufall nicht zu unterscheiden ({p}).</translation>
    </message>
    <message>
      <source>It cannot be used: {reason}.</source>
      <translation>Es ist nicht verwendbar: {reason}.</translation>
    </message>
    <message>
      <source>It changes what the file declares.</source>
      <translation>Er ändert, was die Datei deklariert.</translation>
    </message>
    <message>
      <source>It contains a secret.</source>
      <translation>Es enthält ein Geheimnis.</translation>
    </message>
    <message>
      <source>It crashed outside of Python. Unsaved text can be restored in the window.</source>
      <translation>Ein Fehler unterhalb von Python beendete es. Nicht gespeicherter Text wird im Fenster angeboten.</translation>
    </message>
    <message>
      <source>It did not run</source>
      <translation>Es lief nicht</translation>
    </message>
    <message>
      <source>It goes into the system's key store</source>
      <translation>Er kommt in den Schlüsselspeicher des Systems</translation>
    </message>
    <message>
      <source>It has a line that starts a message in another dialect.</source>
      <translation>Er hat eine Zeile, die in einem anderen Dialekt die Nachricht einer Rolle beginnt.</translation>
    </message>
    <message>
      <source>It has a value</source>
      <translation>Es hat einen Wert</translation>
    </message>
    <message>
      <source>It has an error: {message}</source>
      <translation>Er hat einen Fehler: {message}</translation>
    </message>
    <message>
      <source>It has no model yet: run `ollama pull llama3.2`, then connect again.</source>
      <translation>Es hat noch kein Modell: führen Sie `ollama pull llama3.2` aus und verbinden Sie dann erneut.</translation>
    </message>
    <message>
      <source>It has none</source>
      <translation>Es hat keinen</translation>
    </message>
    <message>
      <source>It has other images, files or threads than the section has now.</source>
      <translation>Er hat andere Bilder, Dateien oder Verläufe als der Abschnitt jetzt.</translation>
    </message>
    <message>
      <source>It has other references (${…}) than the section has now.</source>
      <translation>Er hat andere Verweise (${…}) als der Abschnitt jetzt.</translation>
    </message>
    <message>
      <source>It has side effects; it asks before its first call</source>
      <translation>Es ändert etwas außerhalb; vor dem ersten Aufruf fragt es</translation>
    </message>
    <message>
      <source>It is a list or text</source>
      <translation>Es ist eine Liste oder Text</translation>
    </message>
    <message>
      <source>It is a number</source>
      <translation>Es ist eine Zahl</translation>
    </message>
    <message>
      <source>It is added to the request of the next iteration.</source>
      <translation>Sie kommt in die Anfrage des nächsten Durchgangs.</translation>
    </message>
    <message>
      <source>It is added to the request that will be sent next.</source>
      <translation>Sie kommt in die Anfrage, die gleich gesendet wird.</translation>
    </message>
    <message>
      <source>It is an object</source>
      <translation>Es ist ein Objekt</translation>
    </message>
    <message>
      <source>It is empty.</source>
      <translation>Er ist leer.</translation>
    </message>
    <message>
      <source>It is longer than {count:,} characters.</source>
      <translation>Er ist länger als {count:,} Zeichen.</translation>
    </message>
    <message>
      <source>It is new, and its source does not say whether it has side effects. It asks before its first call.</source>
      <translation>Es ist neu, und seine Quelle sagt nicht, ob es etwas ändert. Es fragt vor dem ersten Aufruf.</translation>
    </message>
    <message>
      <source>It is new. It asks before its first call.</source>
      <translation>Es ist neu. Es fragt vor dem ersten Aufruf.</translation>
    </message>
    <message>
      <source>It is not in the request: a run does not send a sample.</source>
      <translation>Es ist nicht in der Anfrage: Ein Lauf sendet kein Beispiel.</translation>
    </message>
    <message>
      <source>It is null</source>
      <translation>Es ist null</translation>
    </message>
    <message>
      <source>It is parsed as if the model had written it.</source>
      <translation>Es wird gelesen, als hätte das Modell es geschrieben.</translation>
    </message>
    <message>
      <source>It is saved up to its last event. If you continue, it first pauses there.</source>
      <translation>Er ist bis zum letzten Ereignis aufbewahrt. Beim Fortsetzen hält er dort zuerst an.</translation>
    </message>
    <message>
      <source>It is sunny in {city}</source>
      <translation>In {city} ist es sonnig</translation>
    </message>
    <message>
      <source>It is text</source>
      <translation>Es ist Text</translation>
    </message>
    <message>
      <source>It is the same as an earlier one.</source>
      <translation>Er ist derselbe wie ein früherer.</translation>
    </message>
    <message>
      <source>It is unknown whether the tool ran</source>
      <translation>Niemand weiß, ob das Werkzeug lief</translation>
    </message>
    <message>
      <source>It lacks expressions: {names}.</source>
      <translation>Ihm fehlen Ausdrücke: {names}.</translation>
    </message>
    <message>
      <source>It leaves its section: a heading or a role starts another one.</source>
      <translation>Er bleibt nicht in seinem Abschnitt: Eine Überschrift oder eine Rolle beginnt einen anderen.</translation>
    </message>
    <message>
      <source>It lists no models: type a model id.</source>
      <translation>Er nennt keine Modelle: geben Sie die ID eines Modells ein.</translation>
    </message>
    <message>
      <source>It names a file instead of a text.</source>
      <translation>Er nennt eine Datei statt eines Textes.</translation>
    </message>
    <message>
      <source>It opens in a window</source>
      <translation>Es öffnet sich in einem Fenster</translation>
    </message>
    <message>
      <source>It ran</source>
      <translation>Es lief</translation>
    </message>
    <message>
      <source>It receives what you enter. Never enter a password or key in a form of a server.</source>
      <translation>Er bekommt, was Sie eingeben. Geben Sie einem Server in einem Formular kein Passwort und keinen Schlüssel.</translation>
    </message>
    <message>
      <source>It runs again.</source>
      <translation>Es wird noch einmal ausgeführt.</translation>
    </message>
    <message>
      <source>It runs on this computer.</source>
      <translation>Es antwortet auf diesem Rechner.</translation>
    </message>
    <message>
      <source>It then asks only according to its approval setting</source>
      <translation>Danach fragt es nur noch so, wie seine Freigabe es sagt</translation>
    </message>
    <message>
      <source>It took too long</source>
      <translation>Es dauerte zu lange</translation>
    </message>
    <message>
      <source>It was not better on the training rows.</source>
      <translation>Er war auf den Zeilen, aus denen er entstand, nicht besser.</translation>
    </message>
    <message>
      <source>It was stopped.</source>
      <translation>Es wurde angehalten.</translation>
    </message>
    <message>
      <source>Item {number}: {problem}</source>
      <translation>Eintrag {number}: {problem}</translation>
    </message>
    <message>
      <source>Iteration</source>
      <translation>Durchgang</translation>
    </message>
    <message>
      <source>Iteration {number}</source>
      <translation>Durchgang {number}</translation>
    </message>
    <message>
      <source>Iteration {number} sent nothing.</source>
      <translation>Iteration {number} hat nichts gesendet.</translation>
    </message>
    <message>
      <source>Iteration {number} · Prompt</source>
      <translation>Durchgang {number} · Prompt</translation>
    </message>
    <message>
      <source>Iteration {step}: {said}</source>
      <translation>Durchgang {step}: {said}</translation>
    </message>
    <message>
      <source>Iterations</source>
      <translation>Durchgänge</translation>
    </message>
    <message>
      <source>Iterations 1 to {first:,}</source>
      <translation>Durchgänge 1 bis {first:,}</translation>
    </message>
    <message>
      <source>Its answer, its assertions and its run are shown here.</source>
      <translation>Ihre Antwort, ihre Prüfungen und ihr Lauf werden hier gezeigt.</translation>
    </message>
    <message>
      <source>Its calls and files stay unchanged.</source>
      <translation>Ihre Aufrufe und Dateien bleiben, wie sie sind.</translation>
    </message>
    <message>
      <source>Its expressions read other values.</source>
      <translation>Seine Ausdrücke lesen andere Werte.</translation>
    </message>
    <message>
      <source>Its inputs</source>
      <translation>Seine Eingaben</translation>
    </message>
    <message>
      <source>Its last reply: {reading:,.0f} tokens a second read, {writing:,.0f} written</source>
      <translation>Seine letzte Antwort: {reading:,.0f} Token je Sekunde gelesen, {writing:,.0f} geschrieben</translation>
    </message>
    <message>
      <source>Its model calls go through Prompt Studio; the program needs no change. While a call is held, the program's own time limit applies: 600 seconds in the SDKs of OpenAI and Anthropic, none in Gemini's.</source>
      <translation>Seine Aufrufe an Modelle gehen durch Prompt Studio, ohne Änderung am Programm. Während ein Aufruf angehalten ist, gilt die Frist des Programms: 600 Sekunden in den SDKs von OpenAI und Anthropic, keine in dem von Gemini.</translation>
    </message>
    <message>
      <source>Its name</source>
      <translation>Sein Name</translation>
    </message>
    <message>
      <source>Its parameters: name, type, description, required</source>
      <translation>Seine Parameter: name, type, description, required</translation>
    </message>
    <message>
      <source>Its result is…</source>
      <translation>Sein Ergebnis ist …</translation>
    </message>
    <message>
      <source>Its run is running</source>
      <translation>Sein Lauf ist im Gange</translation>
    </message>
    <message>
      <source>Its run is waiting for you</source>
      <translation>Sein Lauf wartet auf Sie</translation>
    </message>
    <message>
      <source>Its type</source>
      <translation>Sein Typ</translation>
    </message>
    <message>
      <source>JSON actions</source>
      <translation>JSON-Aktionen</translation>
    </message>
    <message>
      <source>JSON lines (*.jsonl)</source>
      <translation>JSON-Zeilen (*.jsonl)</translation>
    </message>
    <message>
      <source>JSON, command line or address</source>
      <translation>JSON, Befehlszeile oder Adresse</translation>
    </message>
    <message>
      <source>Join the lines</source>
      <translation>Zeilen verbinden</translation>
    </message>
    <message>
      <source>Journals (*.jsonl)</source>
      <translation>Journale (*.jsonl)</translation>
    </message>
    <message>
      <source>Judge</source>
      <translation>Prüfer</translation>
    </message>
    <message>
      <source>Keep</source>
      <translation>Behalten</translation>
    </message>
    <message>
      <source>Keep mine</source>
      <translation>Meins behalten</translation>
    </message>
    <message>
      <source>Keep only the newest</source>
      <translation>Nur die neuesten behalten</translation>
    </message>
    <message>
      <source>Keep runs</source>
      <translation>Läufe behalten</translation>
    </message>
    <message>
      <source>Key</source>
      <translation>Schlüssel</translation>
    </message>
    <message>
      <source>Keyboard</source>
      <translation>Tastatur</translation>
    </message>
    <message>
      <source>Keyboard shortcuts</source>
      <translation>Tastenkürzel</translation>
    </message>
    <message>
      <source>Keys</source>
      <translation>Tasten</translation>
    </message>
    <message>
      <source>Keys are never in prompts, settings, runs, exports or logs. Text that looks like a key is hidden where it is shown.</source>
      <translation>Schlüssel stehen nie in Prompts, Einstellungen, Läufen, Exporten oder Protokollen. Text, der wie ein Schlüssel aussieht, wird verdeckt, wo er gezeigt wird.</translation>
    </message>
    <message>
      <source>Keys are removed. Read it before you send it: it may contain file names.</source>
      <translation>Schlüssel sind ausgelassen. Lesen Sie ihn, bevor Sie ihn senden: er kann Ihre Dateien nennen.</translation>
    </message>
    <message>
      <source>Keys found</source>
      <translation>Gefundene Schlüssel</translation>
    </message>
    <message>
      <source>Kind of the new tool</source>
      <translation>Art des neuen Werkzeugs</translation>
    </message>
    <message>
      <source>Known facts</source>
      <translation>Bekannte Angaben</translation>
    </message>
    <message>
      <source>Known facts about {model!r}</source>
      <translation>Was von {model!r} bekannt ist</translation>
    </message>
    <message>
      <source>LM Studio</source>
      <translation>LM Studio</translation>
    </message>
    <message>
      <source>Language</source>
      <translation>Sprache</translation>
    </message>
    <message>
      <source>Language of the spelling check</source>
      <translation>Die Rechtschreibung von Prosa prüfen in</translation>
    </message>
    <message>
      <source>Larger text</source>
      <translation>Größerer Text</translation>
    </message>
    <message>
      <source>Last run</source>
      <translation>Letzter Lauf</translation>
    </message>
    <message>
      <source>Last saved version</source>
      <translation>Zuletzt gespeicherte Fassung</translation>
    </message>
    <message>
      <source>Last used</source>
      <translation>Zuletzt benutzt</translation>
    </message>
    <message>
      <source>Later requests are sent to it, with the conversation so far.</source>
      <translation>Die Anfragen von hier an gehen an dieses Modell, mit dem bisherigen Gespräch.</translation>
    </message>
    <message>
      <source>Learn</source>
      <translation>Kennenlernen</translation>
    </message>
    <message>
      <source>Leave out the part after ? or #: it may contain a key, and the path is enough.</source>
      <translation>Lassen Sie weg, was mit ? oder # beginnt: es kann einen Schlüssel enthalten, und der Pfad genügt.</translation>
    </message>
    <message>
      <source>Left answer</source>
      <translation>Linke Antwort</translation>
    </message>
    <message>
      <source>Left is better</source>
      <translation>Links ist besser</translation>
    </message>
    <message>
      <source>Let it continue</source>
      <translation>Weiterlaufen lassen</translation>
    </message>
    <message>
      <source>Let the installed package load the file, and compare the messages</source>
      <translation>Das installierte Paket die Datei laden lassen und die Nachrichten vergleichen</translation>
    </message>
    <message>
      <source>Light</source>
      <translation>Hell</translation>
    </message>
    <message>
      <source>Light theme</source>
      <translation>Helles Thema</translation>
    </message>
    <message>
      <source>Light, dark, or as the desktop is set.</source>
      <translation>Hell, dunkel oder wie der Schreibtisch es sagt.</translation>
    </message>
    <message>
      <source>Limit</source>
      <translation>Grenze</translation>
    </message>
    <message>
      <source>Limit reached</source>
      <translation>Grenze erreicht</translation>
    </message>
    <message>
      <source>Limits</source>
      <translation>Grenzen</translation>
    </message>
    <message>
      <source>Line and column</source>
      <translation>Zeile und Spalte</translation>
    </message>
    <message>
      <source>Line {lineno}, column {colno}: {msg}.</source>
      <translation>Zeile {lineno}, Spalte {colno}: {msg}.</translation>
    </message>
    <message>
      <source>Line {line}</source>
      <translation>Zeile {line}</translation>
    </message>
    <message>
      <source>Line {line}: {message}</source>
      <translation>Zeile {line}: {message}</translation>
    </message>
    <message>
      <source>Line, 1 to {count}</source>
      <translation>Zeile, 1 bis {count}</translation>
    </message>
    <message>
      <source>List models</source>
      <translation>Modelle auflisten</translation>
    </message>
    <message>
      <source>List the available models; the run continues with the one that you choose.</source>
      <translation>Die Modelle auflisten, die antworten können; der Lauf geht mit dem gewählten weiter.</translation>
    </message>
    <message>
      <source>List the model files of {folder}</source>
      <translation>Die Modelldateien von {folder} auflisten</translation>
    </message>
    <message>
      <source>List the models of the server</source>
      <translation>Den Server fragen, welche Modelle er anbietet</translation>
    </message>
    <message>
      <source>Ln {line}, Col {column}</source>
      <translation>Zl {line}, Sp {column}</translation>
    </message>
    <message>
      <source>Ln {line}, Col {column}{chosen}</source>
      <translation>Zl {line}, Sp {column}{chosen}</translation>
    </message>
    <message>
      <source>Load from a file…</source>
      <translation>Aus einer Datei laden …</translation>
    </message>
    <message>
      <source>Load the tools again</source>
      <translation>Werkzeuge neu laden</translation>
    </message>
    <message>
      <source>Load values</source>
      <translation>Werte laden</translation>
    </message>
    <message>
      <source>Loading…</source>
      <translation>Wird geladen …</translation>
    </message>
    <message>
      <source>Log</source>
      <translation>Protokoll</translation>
    </message>
    <message>
      <source>Log in with the browser</source>
      <translation>Im Browser anmelden</translation>
    </message>
    <message>
      <source>Log instead</source>
      <translation>Stattdessen notieren</translation>
    </message>
    <message>
      <source>Log of {label}</source>
      <translation>Protokoll von {label}</translation>
    </message>
    <message>
      <source>Long</source>
      <translation>Lang</translation>
    </message>
    <message>
      <source>Look at {filename}.</source>
      <translation>Sehen Sie nach {filename}.</translation>
    </message>
    <message>
      <source>Looking…</source>
      <translation>Wird gesucht …</translation>
    </message>
    <message>
      <source>Look…</source>
      <translation>Ansehen …</translation>
    </message>
    <message>
      <source>Loop diagram</source>
      <translation>Diagramm der Schleife</translation>
    </message>
    <message>
      <source>Lost or changed: {what}</source>
      <translation>Verloren oder verändert: {what}</translation>
    </message>
    <message>
      <source>Make it the default</source>
      <translation>Zur Vorgabe machen</translation>
    </message>
    <message>
      <source>Mark the words that differ (D)</source>
      <translation>Abweichende Wörter markieren (D)</translation>
    </message>
    <message>
      <source>Match case</source>
      <translation>Groß und klein unterscheiden</translation>
    </message>
    <message>
      <source>Match case (Alt+C)</source>
      <translation>Groß- und Kleinschreibung beachten (Alt+C)</translation>
    </message>
    <message>
      <source>Maximize</source>
      <translation>Maximieren</translation>
    </message>
    <message>
      <source>Maximize it, or restore the layout</source>
      <translation>Ihm das ganze Fenster geben, oder zurück</translation>
    </message>
    <message>
      <source>Maximize the pane</source>
      <translation>Bereich maximieren</translation>
    </message>
    <message>
      <source>Maximum error text</source>
      <translation>Längster Text eines Fehlers</translation>
    </message>
    <message>
      <source>Maximum event of a reply</source>
      <translation>Längstes Ereignis einer Antwort</translation>
    </message>
    <message>
      <source>Maximum reply</source>
      <translation>Längste Antwort</translation>
    </message>
    <message>
      <source>Mean score on the selection rows, by text</source>
      <translation>Mittlere Punktzahl auf den auswählenden Zeilen, Text für Text</translation>
    </message>
    <message>
      <source>Message</source>
      <translation>Nachricht</translation>
    </message>
    <message>
      <source>Message framing: {frame:,}</source>
      <translation>Rahmen der Nachrichten: {frame:,}</translation>
    </message>
    <message>
      <source>Message text</source>
      <translation>Text der Nachricht</translation>
    </message>
    <message>
      <source>Message to the model</source>
      <translation>Nachricht an das Modell</translation>
    </message>
    <message>
      <source>Message {number}, {role}</source>
      <translation>Nachricht {number}, {role}</translation>
    </message>
    <message>
      <source>Messages</source>
      <translation>Nachrichten</translation>
    </message>
    <message>
      <source>Messages of this iteration</source>
      <translation>Nachrichten dieses Durchgangs</translation>
    </message>
    <message>
      <source>Messages sent to the model</source>
      <translation>Was das Modell bekommt</translation>
    </message>
    <message>
      <source>Messages that differ</source>
      <translation>Nachrichten, die sich unterscheiden</translation>
    </message>
    <message>
      <source>Messages to and from it</source>
      <translation>Was hin- und hergeht</translation>
    </message>
    <message>
      <source>Messages: {sum:,}</source>
      <translation>Nachrichten: {sum:,}</translation>
    </message>
    <message>
      <source>Method</source>
      <translation>Methode</translation>
    </message>
    <message>
      <source>Mock: {mock_titles}</source>
      <translation>Ersatz: {mock_titles}</translation>
    </message>
    <message>
      <source>Mocked</source>
      <translation>Mit Ersatz</translation>
    </message>
    <message>
      <source>Model</source>
      <translation>Modell</translation>
    </message>
    <message>
      <source>Model calls</source>
      <translation>Anfragen</translation>
    </message>
    <message>
      <source>Model file</source>
      <translation>Modelldatei</translation>
    </message>
    <message>
      <source>Model files (*.gguf);;All files (*)</source>
      <translation>Modelldateien (*.gguf);;Alle Dateien (*)</translation>
    </message>
    <message>
      <source>Model id on the server</source>
      <translation>Kennung des Modells, wie der Server es nennt</translation>
    </message>
    <message>
      <source>Model of {name}</source>
      <translation>Modell von {name}</translation>
    </message>
    <message>
      <source>Model to use: on this computer, from a provider whose key is here, or another</source>
      <translation>Was antwortet: ein Modell auf diesem Rechner, bei einem Anbieter, dessen Schlüssel vorliegt, oder ein anderes</translation>
    </message>
    <message>
      <source>Model, server address, key or folder</source>
      <translation>Modell, Serveradresse, Schlüssel oder Ordner</translation>
    </message>
    <message>
      <source>Model: {model}</source>
      <translation>Modell: {model}</translation>
    </message>
    <message>
      <source>Model: {model}, not {other}</source>
      <translation>Modell: {model}, nicht {other}</translation>
    </message>
    <message>
      <source>Models</source>
      <translation>Modelle</translation>
    </message>
    <message>
      <source>Models of many providers with one key.</source>
      <translation>Modelle vieler Anbieter mit einem Schlüssel.</translation>
    </message>
    <message>
      <source>Models of {name}</source>
      <translation>Modelle von {name}</translation>
    </message>
    <message>
      <source>Model…</source>
      <translation>Modell …</translation>
    </message>
    <message>
      <source>More</source>
      <translation>Mehr</translation>
    </message>
    <message>
      <source>More choices</source>
      <translation>Weitere Möglichkeiten</translation>
    </message>
    <message>
      <source>More examples</source>
      <translation>Weitere Beispiele</translation>
    </message>
    <message>
      <source>More for this run</source>
      <translation>Mehr zu diesem Lauf</translation>
    </message>
    <message>
      <source>More notices</source>
      <translation>Weitere Meldungen</translation>
    </message>
    <message>
      <source>Most providers accept {most} tools.</source>
      <translation>Die meisten Anbieter nehmen {most} Werkzeuge.</translation>
    </message>
    <message>
      <source>Motion</source>
      <translation>Bewegung</translation>
    </message>
    <message>
      <source>Move tab to the other side</source>
      <translation>Reiter auf die andere Seite</translation>
    </message>
    <message>
      <source>Move the file to a folder of its own to trust it.</source>
      <translation>Legen Sie die Datei in einen eigenen Ordner, um ihm zu vertrauen.</translation>
    </message>
    <message>
      <source>Move the line down</source>
      <translation>Zeile nach unten</translation>
    </message>
    <message>
      <source>Move the line up</source>
      <translation>Zeile nach oben</translation>
    </message>
    <message>
      <source>Move the tab to the left</source>
      <translation>Tab nach links verschieben</translation>
    </message>
    <message>
      <source>Move the tab to the right</source>
      <translation>Tab nach rechts verschieben</translation>
    </message>
    <message>
      <source>Move to the other side</source>
      <translation>Auf die andere Seite</translation>
    </message>
    <message>
      <source>Move to the recycle bin</source>
      <translation>In den Papierkorb</translation>
    </message>
    <message>
      <source>Must match:</source>
      <translation>Wie zuvor sein muss</translation>
    </message>
    <message>
      <source>NAME_OF_THE_VARIABLE</source>
      <translation>NAME_DER_VARIABLEN</translation>
    </message>
    <message>
      <source>Name</source>
      <translation>Name</translation>
    </message>
    <message>
      <source>Name a branch</source>
      <translation>Einen Zweig benennen</translation>
    </message>
    <message>
      <source>Name of a new input</source>
      <translation>Name einer neuen Eingabe</translation>
    </message>
    <message>
      <source>Name of a new tool</source>
      <translation>Name eines neuen Werkzeugs</translation>
    </message>
    <message>
      <source>Name of the deployment</source>
      <translation>Name der Bereitstellung</translation>
    </message>
    <message>
      <source>Name of the input {name}</source>
      <translation>Name der Eingabe {name}</translation>
    </message>
    <message>
      <source>Name of the set, saved in {file_name}:</source>
      <translation>Name des Satzes, der in {file_name} liegt:</translation>
    </message>
    <message>
      <source>Name of the variable</source>
      <translation>Name der Variablen</translation>
    </message>
    <message>
      <source>Name of who speaks</source>
      <translation>Name dessen, der spricht</translation>
    </message>
    <message>
      <source>Name of {branch}, {detail}:</source>
      <translation>Name von {branch}, {detail}:</translation>
    </message>
    <message>
      <source>Name {branch}…</source>
      <translation>{branch} benennen …</translation>
    </message>
    <message>
      <source>Name: value, one per line; no secrets</source>
      <translation>Name: Wert, einer je Zeile; keiner davon geheim</translation>
    </message>
    <message>
      <source>Names and types of values</source>
      <translation>Namen und Arten der Werte</translation>
    </message>
    <message>
      <source>Names, keys and limits of connections to models</source>
      <translation>Namen, Schlüssel und Grenzen der Orte, an denen Modelle antworten</translation>
    </message>
    <message>
      <source>Native tool calls</source>
      <translation>Native Werkzeugaufrufe</translation>
    </message>
    <message>
      <source>Native tools</source>
      <translation>Native Werkzeuge</translation>
    </message>
    <message>
      <source>Needs an API key from aistudio.google.com.</source>
      <translation>Braucht einen API-Schlüssel von aistudio.google.com.</translation>
    </message>
    <message>
      <source>Needs an API key from platform.claude.com.</source>
      <translation>Braucht einen API-Schlüssel von platform.claude.com.</translation>
    </message>
    <message>
      <source>Needs an API key from platform.openai.com.</source>
      <translation>Braucht einen API-Schlüssel von platform.openai.com.</translation>
    </message>
    <message>
      <source>Needs the base address of its API, which usually ends in /v1.</source>
      <translation>Braucht die Basisadresse seiner API; sie endet meist auf /v1.</translation>
    </message>
    <message>
      <source>Needs the resource's endpoint, a deployment's name as the model, and a key.</source>
      <translation>Braucht den Endpunkt der Ressource, den Namen einer Bereitstellung als Modell und einen Schlüssel.</translation>
    </message>
    <message>
      <source>New folder in this folder</source>
      <translation>Neuer Ordner in diesem Ordner</translation>
    </message>
    <message>
      <source>New folder…</source>
      <translation>Neuer Ordner …</translation>
    </message>
    <message>
      <source>New from a template</source>
      <translation>Neu aus einer Vorlage</translation>
    </message>
    <message>
      <source>New from template</source>
      <translation>Neu aus Vorlage</translation>
    </message>
    <message>
      <source>New from template…</source>
      <translation>Neu aus Vorlage …</translation>
    </message>
    <message>
      <source>New key</source>
      <translation>Neuer Schlüssel</translation>
    </message>
    <message>
      <source>New keys</source>
      <translation>Neue Tasten</translation>
    </message>
    <message>
      <source>New line above</source>
      <translation>Neue Zeile darüber</translation>
    </message>
    <message>
      <source>New line below</source>
      <translation>Neue Zeile darunter</translation>
    </message>
    <message>
      <source>New name of {name!r}</source>
      <translation>Neuer Name von {name!r}</translation>
    </message>
    <message>
      <source>New prompt</source>
      <translation>Neuer Prompt</translation>
    </message>
    <message>
      <source>New prompt in this folder</source>
      <translation>Neuer Prompt in diesem Ordner</translation>
    </message>
    <message>
      <source>New prompt…</source>
      <translation>Neuer Prompt …</translation>
    </message>
    <message>
      <source>New row, or paste rows from a spreadsheet, CSV or JSON</source>
      <translation>Neue Zeile, oder Zeilen aus einer Tabelle, CSV oder JSON einfügen</translation>
    </message>
    <message>
      <source>Newest</source>
      <translation>Zum Neuesten</translation>
    </message>
    <message>
      <source>Next</source>
      <translation>Weiter</translation>
    </message>
    <message>
      <source>Next branch</source>
      <translation>Nächster Zweig</translation>
    </message>
    <message>
      <source>Next difference</source>
      <translation>Nächster Unterschied</translation>
    </message>
    <message>
      <source>Next iteration</source>
      <translation>Nächster Durchgang</translation>
    </message>
    <message>
      <source>Next match (Enter)</source>
      <translation>Nächster Treffer (Eingabe)</translation>
    </message>
    <message>
      <source>Next message of the thread</source>
      <translation>Nächste Nachricht des Gesprächs</translation>
    </message>
    <message>
      <source>Next problem</source>
      <translation>Nächstes Problem</translation>
    </message>
    <message>
      <source>Next repeat</source>
      <translation>Nächste Wiederholung</translation>
    </message>
    <message>
      <source>Next run</source>
      <translation>Nächster Lauf</translation>
    </message>
    <message>
      <source>Next set</source>
      <translation>Nächster Satz</translation>
    </message>
    <message>
      <source>Next tab</source>
      <translation>Nächster Reiter</translation>
    </message>
    <message>
      <source>No</source>
      <translation>Nein</translation>
    </message>
    <message>
      <source>No (known)</source>
      <translation>Nein (wie bekannt)</translation>
    </message>
    <message>
      <source>No answer</source>
      <translation>Keine Antwort</translation>
    </message>
    <message>
      <source>No answers differ in the shown rows.</source>
      <translation>In den gezeigten Zeilen unterscheiden sich keine zwei Antworten.</translation>
    </message>
    <message>
      <source>No breakpoints yet. Press Add, F9 on a tool or a message of the prompt, or Ctrl+click a node of the diagram.</source>
      <translation>Noch keine Haltepunkte. Drücken Sie Hinzufügen, F9 auf einem Werkzeug oder einer Nachricht des Prompts, oder Strg+Klick auf einen Knoten des Diagramms.</translation>
    </message>
    <message>
      <source>No call is saved. Save one in the panel of a tool, or load rows.</source>
      <translation>Kein Aufruf ist gesichert. Sichern Sie einen, wo ein Werkzeug ausprobiert wird, oder nehmen Sie Zeilen.</translation>
    </message>
    <message>
      <source>No closed tab can be reopened.</source>
      <translation>Es wurde kein Tab geschlossen, der wieder geöffnet werden kann.</translation>
    </message>
    <message>
      <source>No conversation yet.</source>
      <translation>Noch kein Gespräch.</translation>
    </message>
    <message>
      <source>No description</source>
      <translation>Keine Beschreibung</translation>
    </message>
    <message>
      <source>No description.</source>
      <translation>Keine Beschreibung.</translation>
    </message>
    <message>
      <source>No differences from {name}</source>
      <translation>Nichts unterscheidet sich von {name}</translation>
    </message>
    <message>
      <source>No earlier run has an answer of this tool</source>
      <translation>Kein früherer Lauf hat eine Antwort dieses Werkzeugs</translation>
    </message>
    <message>
      <source>No embeddings by {name!r}: {said}</source>
      <translation>Keine Embeddings von {name!r}: {said}</translation>
    </message>
    <message>
      <source>No groups</source>
      <translation>Keine Gruppen</translation>
    </message>
    <message>
      <source>No input of this prompt takes text, so there is nothing to probe.</source>
      <translation>Keine Eingabe dieses Prompts nimmt Text an; es gibt nichts zu prüfen.</translation>
    </message>
    <message>
      <source>No judge is named for {type!r}, so it is not run: give it a `provider`, or defaultTest.options one.</source>
      <translation>Für {type!r} ist kein Richter genannt, daher läuft die Prüfung nicht: Geben Sie ihr einen `provider`, oder einen in defaultTest.options.</translation>
    </message>
    <message>
      <source>No judge is named: give the assertion a `provider`, or defaultTest.options one.</source>
      <translation>Kein Bewerter ist genannt: Geben Sie der Prüfung oder defaultTest.options einen `provider`.</translation>
    </message>
    <message>
      <source>No key</source>
      <translation>Kein Schlüssel</translation>
    </message>
    <message>
      <source>No limit</source>
      <translation>Keine Grenze</translation>
    </message>
    <message>
      <source>No longer there: {names}.</source>
      <translation>Nicht mehr da: {names}.</translation>
    </message>
    <message>
      <source>No match. Try fewer letters.</source>
      <translation>Nichts passt. Versuchen Sie weniger Buchstaben.</translation>
    </message>
    <message>
      <source>No matches</source>
      <translation>Keine Treffer</translation>
    </message>
    <message>
      <source>No message differs.</source>
      <translation>Keine Nachricht unterscheidet sich.</translation>
    </message>
    <message>
      <source>No messages yet. Keys are masked.</source>
      <translation>Noch keine Nachrichten. Schlüssel sind maskiert.</translation>
    </message>
    <message>
      <source>No problems</source>
      <translation>Keine Probleme</translation>
    </message>
    <message>
      <source>No problems found.</source>
      <translation>Keine Probleme gefunden.</translation>
    </message>
    <message>
      <source>No prompt</source>
      <translation>Kein Prompt</translation>
    </message>
    <message>
      <source>No prompt is open to insert it into.</source>
      <translation>Es ist kein Prompt offen, in den es eingefügt werden könnte.</translation>
    </message>
    <message>
      <source>No prompt reads {names}.</source>
      <translation>Kein Prompt liest {names}.</translation>
    </message>
    <message>
      <source>No quick fix here</source>
      <translation>Hier keine schnelle Abhilfe</translation>
    </message>
    <message>
      <source>No reason is given.</source>
      <translation>Kein Grund ist angegeben.</translation>
    </message>
    <message>
      <source>No recent files</source>
      <translation>Keine zuletzt geöffneten Dateien</translation>
    </message>
    <message>
      <source>No request yet</source>
      <translation>Noch keine Anfrage</translation>
    </message>
    <message>
      <source>No row changed.</source>
      <translation>Keine Zeile hat sich geändert.</translation>
    </message>
    <message>
      <source>No row is left to run.</source>
      <translation>Es bleibt keine Zeile zu fragen.</translation>
    </message>
    <message>
      <source>No row matches these filters.</source>
      <translation>Keine Zeile passt zu diesen Filtern.</translation>
    </message>
    <message>
      <source>No run matches the filter.</source>
      <translation>Kein Lauf passt zum Filter.</translation>
    </message>
    <message>
      <source>No run yet</source>
      <translation>Noch kein Lauf</translation>
    </message>
    <message>
      <source>No runs yet. Press Run (F5): every run is saved here.</source>
      <translation>Noch keine Läufe. Drücken Sie Ausführen (F5): jeder Lauf wird hier bis zu seinem letzten Ereignis behalten.</translation>
    </message>
    <message>
      <source>No scheduler answers at {address}: {reason}</source>
      <translation>Kein Scheduler antwortet unter {address}: {reason}</translation>
    </message>
    <message>
      <source>No servers of Claude Desktop, Claude Code, VS Code, Cursor or Windsurf were found.</source>
      <translation>Keine gefunden von Claude Desktop, Claude Code, VS Code, Cursor und Windsurf.</translation>
    </message>
    <message>
      <source>No setting matches.</source>
      <translation>Keine Einstellung passt.</translation>
    </message>
    <message>
      <source>No siblings</source>
      <translation>Nichts daneben</translation>
    </message>
    <message>
      <source>No source of this prompt has a tool; the problems are listed above.</source>
      <translation>Keine Quelle dieses Prompts bietet ein Werkzeug an; die Probleme stehen oben.</translation>
    </message>
    <message>
      <source>No source provides this tool</source>
      <translation>Nichts führt dieses Werkzeug aus</translation>
    </message>
    <message>
      <source>No text was better than the current section.</source>
      <translation>Kein Text war besser als der Abschnitt, wie er ist.</translation>
    </message>
    <message>
      <source>No text: the observations are the answer.</source>
      <translation>Keine eigenen Worte: die Beobachtungen stehen für sich.</translation>
    </message>
    <message>
      <source>No tools</source>
      <translation>Keine Werkzeuge</translation>
    </message>
    <message>
      <source>No tools yet</source>
      <translation>Noch keine Werkzeuge</translation>
    </message>
    <message>
      <source>None</source>
      <translation>Keine</translation>
    </message>
    <message>
      <source>None yet</source>
      <translation>Noch keine</translation>
    </message>
    <message>
      <source>None yet: F9 in the prompt, or Ctrl+click in the diagram.</source>
      <translation>Noch keine: F9 im Prompt, oder Strg+Klick im Diagramm.</translation>
    </message>
    <message>
      <source>Not bound</source>
      <translation>Nicht gebunden</translation>
    </message>
    <message>
      <source>Not changed when the file is saved</source>
      <translation>Bleibt beim Speichern, wie es ist</translation>
    </message>
    <message>
      <source>Not counted, as a run does not send samples: {names}</source>
      <translation>Nicht gezählt, da ein Lauf keine Beispiele sendet: {names}</translation>
    </message>
    <message>
      <source>Not from the prompt: set by the request format or the connection.</source>
      <translation>Nicht im Prompt geschrieben: die Form der Anfrage oder die der Verbindung.</translation>
    </message>
    <message>
      <source>Not in the recording: {request}</source>
      <translation>Nicht in der Aufzeichnung: {request}</translation>
    </message>
    <message>
      <source>Not planned.</source>
      <translation>Nicht geplant.</translation>
    </message>
    <message>
      <source>Not run yet.</source>
      <translation>Noch nicht gefragt.</translation>
    </message>
    <message>
      <source>Not run yet. Ctrl+F5 runs this cell only.</source>
      <translation>Noch nicht gefragt. Strg+F5 fragt nur diese Zelle.</translation>
    </message>
    <message>
      <source>Not run yet. Run sends every row of every variant and grades the answers.</source>
      <translation>Noch nicht ausgeführt. „Ausführen“ stellt jede Zeile jeder Variante und bewertet die Antworten.</translation>
    </message>
    <message>
      <source>Not saved as samples: {names}. Declare them as inputs first.</source>
      <translation>Nicht als Beispiele gespeichert: {names}. Deklarieren Sie sie zuerst als Eingaben.</translation>
    </message>
    <message>
      <source>Not saved yet</source>
      <translation>Noch nicht gespeichert</translation>
    </message>
    <message>
      <source>Not stored: an older version wrote the run, or its model ran in this program.</source>
      <translation>Nicht aufbewahrt: Eine ältere Version schrieb den Lauf, oder sein Modell antwortete in diesem Programm.</translation>
    </message>
    <message>
      <source>Not: </source>
      <translation>Nicht: </translation>
    </message>
    <message>
      <source>Note</source>
      <translation>Notiz</translation>
    </message>
    <message>
      <source>Note: {note}</source>
      <translation>Notiz: {note}</translation>
    </message>
    <message>
      <source>Notes about this run</source>
      <translation>Was über diesen Lauf zu wissen ist</translation>
    </message>
    <message>
      <source>Notes on the request</source>
      <translation>Hinweise zur Anfrage</translation>
    </message>
    <message>
      <source>Notes…</source>
      <translation>Notizen …</translation>
    </message>
    <message>
      <source>Nothing found.</source>
      <translation>Nichts gefunden.</translation>
    </message>
    <message>
      <source>Nothing is checked: the row has no assertions.</source>
      <translation>Nichts wird geprüft: Die Zeile erwartet nichts.</translation>
    </message>
    <message>
      <source>Nothing is lost</source>
      <translation>Nichts geht verloren</translation>
    </message>
    <message>
      <source>Nothing is saved until the marked fields are correct.</source>
      <translation>Nichts wird gespeichert, bis die markierten Felder stimmen.</translation>
    </message>
    <message>
      <source>Nothing is sent to {address}: {how}</source>
      <translation>An {address} wird nichts gesendet: {how}</translation>
    </message>
    <message>
      <source>Nothing is sent until these have a value: {names}.</source>
      <translation>Es wird nichts gesendet, bevor diese einen Wert haben: {names}.</translation>
    </message>
    <message>
      <source>Nothing is sent: {why}</source>
      <translation>Nichts wird gesendet: {why}</translation>
    </message>
    <message>
      <source>Nothing leaves this computer</source>
      <translation>Nichts verlässt diesen Rechner</translation>
    </message>
    <message>
      <source>Nothing on disk was changed. Use Save As to save it elsewhere.</source>
      <translation>Auf der Platte wurde nichts geändert. Mit „Speichern unter“ an einen anderen Ort schreiben.</translation>
    </message>
    <message>
      <source>Nothing on this side.</source>
      <translation>Auf dieser Seite nichts.</translation>
    </message>
    <message>
      <source>Nothing runs until the last call is approved.</source>
      <translation>Nichts läuft, bevor der letzte Aufruf erlaubt ist.</translation>
    </message>
    <message>
      <source>Nothing to preview</source>
      <translation>Nichts anzusehen</translation>
    </message>
    <message>
      <source>Nothing was changed.</source>
      <translation>Nichts wurde geändert.</translation>
    </message>
    <message>
      <source>Nothing was changed. Choose another place.</source>
      <translation>Nichts wurde geändert. Wählen Sie einen anderen Ort.</translation>
    </message>
    <message>
      <source>Nothing was restored, and changed settings are not saved.</source>
      <translation>Nichts wurde wiederhergestellt, und geänderte Einstellungen werden nicht behalten.</translation>
    </message>
    <message>
      <source>Nothing was sent to {address}: it is not allowed.</source>
      <translation>An {address} wurde nichts gesendet: Die Adresse ist nicht erlaubt.</translation>
    </message>
    <message>
      <source>Nothing was sent.</source>
      <translation>Nichts wurde gesendet.</translation>
    </message>
    <message>
      <source>Nothing was sent. Add the connection, or choose one for the folder.</source>
      <translation>Nichts wurde gesendet. Legen Sie die Verbindung an, oder wählen Sie eine für den Ordner.</translation>
    </message>
    <message>
      <source>Nothing was sent. Run again and allow it, or choose another connection.</source>
      <translation>Nichts wurde gesendet. Führen Sie noch einmal aus und erlauben Sie es, oder wählen Sie eine andere Verbindung.</translation>
    </message>
    <message>
      <source>Nothing was written. UTF-8 can represent every character.</source>
      <translation>Nichts wurde geschrieben. UTF-8 kann jedes Zeichen darstellen.</translation>
    </message>
    <message>
      <source>Nothing: only replay the recording</source>
      <translation>Nichts: nur aus der Aufzeichnung antworten</translation>
    </message>
    <message>
      <source>Notify the desktop when an experiment has ended</source>
      <translation>Auf dem Desktop melden, wenn ein Experiment beendet ist</translation>
    </message>
    <message>
      <source>Now</source>
      <translation>Jetzt</translation>
    </message>
    <message>
      <source>Now:</source>
      <translation>Jetzt:</translation>
    </message>
    <message>
      <source>Observation</source>
      <translation>Beobachtung</translation>
    </message>
    <message>
      <source>Observation of {tool}</source>
      <translation>Beobachtung von {tool}</translation>
    </message>
    <message>
      <source>Of every kind</source>
      <translation>Jeder Art</translation>
    </message>
    <message>
      <source>Of these, inputs: {names}</source>
      <translation>Davon Eingaben: {names}</translation>
    </message>
    <message>
      <source>Off</source>
      <translation>Aus</translation>
    </message>
    <message>
      <source>Offer to the model</source>
      <translation>Dem Modell anbieten</translation>
    </message>
    <message>
      <source>Offered by the connection</source>
      <translation>Von der Verbindung angeboten</translation>
    </message>
    <message>
      <source>Offered to the model</source>
      <translation>Dem Modell angeboten</translation>
    </message>
    <message>
      <source>Ollama</source>
      <translation>Ollama</translation>
    </message>
    <message>
      <source>On 1 unseen row: {after} pass ({low} to {high}), {before} before; {won} won, {lost} lost, {p}: {verdict}</source>
      <translation>Von 1 ungesehenen Zeile bestehen {after} ({low} bis {high}), vorher {before}; {won} gewonnen, {lost} verloren, {p}: {verdict}</translation>
    </message>
    <message>
      <source>On any problem</source>
      <translation>Bei jedem Problem</translation>
    </message>
    <message>
      <source>On this computer</source>
      <translation>Auf diesem Rechner</translation>
    </message>
    <message>
      <source>On this computer, or from a provider with your own key</source>
      <translation>Eines auf diesem Rechner oder bei einem Anbieter mit Ihrem eigenen Schlüssel</translation>
    </message>
    <message>
      <source>On {rows} unseen rows: {after} pass ({low} to {high}), {before} before; {won} won, {lost} lost, {p}: {verdict}</source>
      <translation>Von {rows} ungesehenen Zeilen bestehen {after} ({low} bis {high}), vorher {before}; {won} gewonnen, {lost} verloren, {p}: {verdict}</translation>
    </message>
    <message>
      <source>One answer per line, for one call after another</source>
      <translation>Eine Antwort je Zeile, ein Aufruf nach dem anderen bekommt sie</translation>
    </message>
    <message>
      <source>One more input</source>
      <translation>Eine weitere Eingabe</translation>
    </message>
    <message>
      <source>One more tool</source>
      <translation>Ein weiteres Werkzeug</translation>
    </message>
    <message>
      <source>One of </source>
      <translation>Eines von </translation>
    </message>
    <message>
      <source>One of its values after the other: loop.cycle('odd', 'even').</source>
      <translation>Einen ihrer Werte nach dem anderen: loop.cycle('odd', 'even').</translation>
    </message>
    <message>
      <source>One side only</source>
      <translation>Nur eine Seite</translation>
    </message>
    <message>
      <source>One text or another</source>
      <translation>Der eine oder der andere Text</translation>
    </message>
    <message>
      <source>Only differences</source>
      <translation>Nur Unterschiede</translation>
    </message>
    <message>
      <source>Only estimated: {names}.</source>
      <translation>Nur geschätzt: {names}.</translation>
    </message>
    <message>
      <source>Only the editor</source>
      <translation>Nur der Editor</translation>
    </message>
    <message>
      <source>Only this file</source>
      <translation>Nur diese Datei</translation>
    </message>
    <message>
      <source>Only what you send leaves this machine</source>
      <translation>Nichts verlässt diesen Rechner, außer was Sie senden</translation>
    </message>
    <message>
      <source>Only while another window is active.</source>
      <translation>Nur solange das Fenster nicht vorne ist.</translation>
    </message>
    <message>
      <source>Open</source>
      <translation>Öffnen</translation>
    </message>
    <message>
      <source>Open Connections…</source>
      <translation>Verbindungen öffnen …</translation>
    </message>
    <message>
      <source>Open a file</source>
      <translation>Datei öffnen</translation>
    </message>
    <message>
      <source>Open a folder</source>
      <translation>Ordner öffnen</translation>
    </message>
    <message>
      <source>Open a folder first: File, Open folder…</source>
      <translation>Öffnen Sie zuerst einen Ordner: Datei, Ordner öffnen …</translation>
    </message>
    <message>
      <source>Open a folder to see its prompts and the files that they refer to.</source>
      <translation>Öffnen Sie einen Ordner, um seine Prompts und deren Dateien zu sehen.</translation>
    </message>
    <message>
      <source>Open a prompt to see its exact request.</source>
      <translation>Öffnen Sie einen Prompt, um die genaue Anfrage zu sehen, die er ergibt.</translation>
    </message>
    <message>
      <source>Open a prompt to see its parts here.</source>
      <translation>Öffnen Sie einen Prompt, um hier seine Teile zu sehen.</translation>
    </message>
    <message>
      <source>Open a prompt to see its problems here.</source>
      <translation>Öffnen Sie einen Prompt; was daran nicht stimmt, steht hier.</translation>
    </message>
    <message>
      <source>Open a saved prompt; its cases are stored in its folder.</source>
      <translation>Öffnen Sie einen gespeicherten Prompt; seine Fälle liegen daneben.</translation>
    </message>
    <message>
      <source>Open and save the prompt to which the call is added as a case.</source>
      <translation>Öffnen Sie den Prompt, zu dem der Aufruf ein Fall werden soll, und speichern Sie ihn.</translation>
    </message>
    <message>
      <source>Open as new prompt</source>
      <translation>Als neuen Prompt öffnen</translation>
    </message>
    <message>
      <source>Open as prompt…</source>
      <translation>Als Prompt öffnen …</translation>
    </message>
    <message>
      <source>Open files are changed in their editors, where you can undo it. Other files are written to disk at once.</source>
      <translation>Offene Dateien werden in ihren Editoren geändert, wo Rückgängig zurückführt. Die anderen werden sofort auf die Platte geschrieben.</translation>
    </message>
    <message>
      <source>Open folder</source>
      <translation>Ordner öffnen</translation>
    </message>
    <message>
      <source>Open folder: {name}</source>
      <translation>Ordner öffnen: {name}</translation>
    </message>
    <message>
      <source>Open folder…</source>
      <translation>Ordner öffnen …</translation>
    </message>
    <message>
      <source>Open log folder</source>
      <translation>Protokollordner öffnen</translation>
    </message>
    <message>
      <source>Open or write a prompt first.</source>
      <translation>Öffnen oder schreiben Sie zuerst einen Prompt.</translation>
    </message>
    <message>
      <source>Open or write a prompt: the messages for the model appear here.</source>
      <translation>Öffnen oder schreiben Sie einen Prompt: die Nachrichten, die das Modell bekäme, erscheinen hier.</translation>
    </message>
    <message>
      <source>Open prompt</source>
      <translation>Prompt öffnen</translation>
    </message>
    <message>
      <source>Open prompts</source>
      <translation>Offene Prompts</translation>
    </message>
    <message>
      <source>Open recent</source>
      <translation>Zuletzt geöffnet</translation>
    </message>
    <message>
      <source>Open the connection…</source>
      <translation>Verbindung öffnen …</translation>
    </message>
    <message>
      <source>Open the file of servers that every prompt can use</source>
      <translation>Die Datei der Server öffnen, die jeder Prompt nennen darf</translation>
    </message>
    <message>
      <source>Open the page</source>
      <translation>Seite öffnen</translation>
    </message>
    <message>
      <source>Open the prompt of these calls first.</source>
      <translation>Wechseln Sie zuerst zum Prompt dieser Aufrufe.</translation>
    </message>
    <message>
      <source>Open the prompt to insert the tool into</source>
      <translation>Öffnen Sie den Prompt, in den das Werkzeug eingefügt werden soll</translation>
    </message>
    <message>
      <source>Open the prompt to run again.</source>
      <translation>Öffnen Sie den Prompt, der noch einmal ausgeführt werden soll.</translation>
    </message>
    <message>
      <source>Open the run</source>
      <translation>Lauf öffnen</translation>
    </message>
    <message>
      <source>Open this page in the browser</source>
      <translation>Diese Seite im Browser öffnen</translation>
    </message>
    <message>
      <source>Open with similar calls as cases…</source>
      <translation>Mit den Aufrufen wie diesem als Fälle öffnen …</translation>
    </message>
    <message>
      <source>Open {name}</source>
      <translation>{name} öffnen</translation>
    </message>
    <message>
      <source>OpenAI</source>
      <translation>OpenAI</translation>
    </message>
    <message>
      <source>OpenAI-compatible server</source>
      <translation>OpenAI-kompatibler Server</translation>
    </message>
    <message>
      <source>OpenRouter</source>
      <translation>OpenRouter</translation>
    </message>
    <message>
      <source>Opened content</source>
      <translation>Geöffneter Inhalt</translation>
    </message>
    <message>
      <source>Opening…</source>
      <translation>Wird geöffnet …</translation>
    </message>
    <message>
      <source>Open…</source>
      <translation>Öffnen …</translation>
    </message>
    <message>
      <source>Operation</source>
      <translation>Operation</translation>
    </message>
    <message>
      <source>Operations by group</source>
      <translation>Operationen nach Gruppe</translation>
    </message>
    <message>
      <source>Operations of {label}</source>
      <translation>Operationen von {label}</translation>
    </message>
    <message>
      <source>Optional</source>
      <translation>Freiwillig</translation>
    </message>
    <message>
      <source>Optional: what the section should do</source>
      <translation>Was der Abschnitt können soll, wenn etwas</translation>
    </message>
    <message>
      <source>Options</source>
      <translation>Optionen</translation>
    </message>
    <message>
      <source>Options as JSON, with their values</source>
      <translation>Optionen als JSON, mit eingesetzten Werten</translation>
    </message>
    <message>
      <source>Options of the model</source>
      <translation>Einstellungen des Modells</translation>
    </message>
    <message>
      <source>Options of the prompt for the program that runs it</source>
      <translation>Was der Prompt für das Programm einstellt, das es ausführt</translation>
    </message>
    <message>
      <source>Options of the tools, with their values</source>
      <translation>Optionen der Werkzeuge, mit eingesetzten Werten</translation>
    </message>
    <message>
      <source>Options of this request</source>
      <translation>Optionen dieser Anfrage</translation>
    </message>
    <message>
      <source>Or import from other programs:</source>
      <translation>Oder aus anderen Programmen übernehmen:</translation>
    </message>
    <message>
      <source>Order: for this file, for this folder, as the file requests, the default.</source>
      <translation>Reihenfolge: für diese Datei, für diesen Ordner, was die Datei verlangt, die Vorgabe.</translation>
    </message>
    <message>
      <source>Other languages</source>
      <translation>Andere Sprachen</translation>
    </message>
    <message>
      <source>Other prompt formats</source>
      <translation>Andere Prompt-Formate</translation>
    </message>
    <message>
      <source>Otherwise</source>
      <translation>Andernfalls</translation>
    </message>
    <message>
      <source>Outdent the lines</source>
      <translation>Zeilen ausrücken</translation>
    </message>
    <message>
      <source>Outline</source>
      <translation>Gliederung</translation>
    </message>
    <message>
      <source>Output</source>
      <translation>Ausgabe</translation>
    </message>
    <message>
      <source>Output of the tool</source>
      <translation>Was das Werkzeug ausgab</translation>
    </message>
    <message>
      <source>Output {name}</source>
      <translation>Ausgabe {name}</translation>
    </message>
    <message>
      <source>Over results</source>
      <translation>Über Ergebnisse</translation>
    </message>
    <message>
      <source>Own words</source>
      <translation>Eigene Wörter</translation>
    </message>
    <message>
      <source>Page</source>
      <translation>Seite</translation>
    </message>
    <message>
      <source>Pages of the guide</source>
      <translation>Seiten des Handbuchs</translation>
    </message>
    <message>
      <source>Pages of the settings</source>
      <translation>Seiten der Einstellungen</translation>
    </message>
    <message>
      <source>Pairs of key and value</source>
      <translation>Paare aus Schlüssel und Wert</translation>
    </message>
    <message>
      <source>Pairs, sorted by key</source>
      <translation>Paare, nach Schlüssel sortiert</translation>
    </message>
    <message>
      <source>Panes</source>
      <translation>Bereiche</translation>
    </message>
    <message>
      <source>Paragraph separators (U+2029) are shown and saved as line ends.</source>
      <translation>Absatztrenner (U+2029) werden als Zeilenenden gezeigt und gespeichert.</translation>
    </message>
    <message>
      <source>Parameters of the prompt: {names}</source>
      <translation>Parameter des Prompts: {names}</translation>
    </message>
    <message>
      <source>Parameters: {shown}</source>
      <translation>Parameter: {shown}</translation>
    </message>
    <message>
      <source>Parse it, up to the next pause.</source>
      <translation>Sehen, was sie verlangt, bis zum nächsten Halt.</translation>
    </message>
    <message>
      <source>Parse the reply</source>
      <translation>Die Antwort lesen</translation>
    </message>
    <message>
      <source>Part of the answer that must match</source>
      <translation>Was von der Antwort so sein muss, wie es war</translation>
    </message>
    <message>
      <source>Pass</source>
      <translation>Bestanden</translation>
    </message>
    <message>
      <source>Pass rate</source>
      <translation>Bestehensquote</translation>
    </message>
    <message>
      <source>Paste</source>
      <translation>Einfügen</translation>
    </message>
    <message>
      <source>Paste a key first.</source>
      <translation>Fügen Sie zuerst einen Schlüssel ein.</translation>
    </message>
    <message>
      <source>Paste a key; it is not shown again</source>
      <translation>Fügen Sie einen Schlüssel ein; er wird nicht wieder gezeigt</translation>
    </message>
    <message>
      <source>Paste picture</source>
      <translation>Bild einfügen</translation>
    </message>
    <message>
      <source>Paste the key</source>
      <translation>Schlüssel einfügen</translation>
    </message>
    <message>
      <source>Path</source>
      <translation>Pfad</translation>
    </message>
    <message>
      <source>Path of an operation</source>
      <translation>Pfad einer Operation</translation>
    </message>
    <message>
      <source>Path relative to the prompt, or URL</source>
      <translation>Pfad neben dem Prompt oder URL</translation>
    </message>
    <message>
      <source>Pattern</source>
      <translation>Muster</translation>
    </message>
    <message>
      <source>Pattern: {error}</source>
      <translation>Muster: {error}</translation>
    </message>
    <message>
      <source>Pattern: {msg}</source>
      <translation>Muster: {msg}</translation>
    </message>
    <message>
      <source>Pause</source>
      <translation>Anhalten</translation>
    </message>
    <message>
      <source>Pause the run before going back.</source>
      <translation>Halten Sie den Lauf an, bevor Sie zurückgehen.</translation>
    </message>
    <message>
      <source>Paused</source>
      <translation>Angehalten</translation>
    </message>
    <message>
      <source>Paused at a problem</source>
      <translation>Angehalten bei einem Problem</translation>
    </message>
    <message>
      <source>Pictures (*.png *.jpg *.jpeg *.gif *.webp *.bmp *.svg);;All files (*)</source>
      <translation>Bilder (*.png *.jpg *.jpeg *.gif *.webp *.bmp *.svg);;Alle Dateien (*)</translation>
    </message>
    <message>
      <source>Pictures of the result</source>
      <translation>Bilder des Ergebnisses</translation>
    </message>
    <message>
      <source>Pin to the top</source>
      <translation>Oben anheften</translation>
    </message>
    <message>
      <source>Place</source>
      <translation>Stelle</translation>
    </message>
    <message>
      <source>Place in the text</source>
      <translation>Stelle im Text</translation>
    </message>
    <message>
      <source>Place of the key</source>
      <translation>Ort des Schlüssels</translation>
    </message>
    <message>
      <source>Places found</source>
      <translation>Gefundene Stellen</translation>
    </message>
    <message>
      <source>Play the run back</source>
      <translation>Den Lauf abspielen</translation>
    </message>
    <message>
      <source>Playback speed</source>
      <translation>Geschwindigkeit der Wiedergabe</translation>
    </message>
    <message>
      <source>Please report it.</source>
      <translation>Bitte melden Sie es.</translation>
    </message>
    <message>
      <source>Port</source>
      <translation>Port</translation>
    </message>
    <message>
      <source>Press Run (F5) to run the prompt, or Step (F10) to run it step by step. Every message, reply and tool call will be listed here.</source>
      <translation>Drücken Sie Ausführen (F5), um den Prompt auszuführen, oder Schritt (F10), um ihn Schritt für Schritt durchzugehen. Jede Nachricht, Antwort und jeder Werkzeugaufruf steht dann hier.</translation>
    </message>
    <message>
      <source>Preview</source>
      <translation>Vorschau</translation>
    </message>
    <message>
      <source>Preview tab: double-click it or edit the file to keep it open</source>
      <translation>Nur angesehen: ein Doppelklick oder eine Änderung behält den Tab</translation>
    </message>
    <message>
      <source>Previous branch</source>
      <translation>Der Weg davor</translation>
    </message>
    <message>
      <source>Previous difference</source>
      <translation>Voriger Unterschied</translation>
    </message>
    <message>
      <source>Previous match (Shift+Enter)</source>
      <translation>Voriger Treffer (Umschalt+Eingabe)</translation>
    </message>
    <message>
      <source>Previous problem</source>
      <translation>Voriges Problem</translation>
    </message>
    <message>
      <source>Previous run</source>
      <translation>Voriger Lauf</translation>
    </message>
    <message>
      <source>Previous set</source>
      <translation>Voriger Satz</translation>
    </message>
    <message>
      <source>Previous tab</source>
      <translation>Voriger Reiter</translation>
    </message>
    <message>
      <source>Prices: {name}.</source>
      <translation>Preise: {name}.</translation>
    </message>
    <message>
      <source>Printed by the tool</source>
      <translation>Vom Werkzeug ausgegeben</translation>
    </message>
    <message>
      <source>Privacy</source>
      <translation>Privatsphäre</translation>
    </message>
    <message>
      <source>Probe inputs: can a value change the structure of the messages?</source>
      <translation>Eingaben abklopfen: kann ein Wert den Aufbau der Nachrichten ändern?</translation>
    </message>
    <message>
      <source>Probed {names} with {attacks} texts: none changes the structure.</source>
      <translation>{names} mit {attacks} Texten geprüft: keiner ändert den Aufbau.</translation>
    </message>
    <message>
      <source>Problem</source>
      <translation>Problem</translation>
    </message>
    <message>
      <source>Problems</source>
      <translation>Probleme</translation>
    </message>
    <message>
      <source>Problems panel</source>
      <translation>Probleme unten</translation>
    </message>
    <message>
      <source>Programs that may be started</source>
      <translation>Programme, die gestartet werden dürfen</translation>
    </message>
    <message>
      <source>Prompt</source>
      <translation>Prompt</translation>
    </message>
    <message>
      <source>Prompt Studio {version}</source>
      <translation>Prompt Studio {version}</translation>
    </message>
    <message>
      <source>Prompt of the run</source>
      <translation>Wessen Lauf es ist</translation>
    </message>
    <message>
      <source>Prompt text</source>
      <translation>Text des Prompts</translation>
    </message>
    <message>
      <source>Prompts</source>
      <translation>Prompts</translation>
    </message>
    <message>
      <source>Prompts (*.prompty);;Markdown and text (*.md *.txt);;Python tools (*.py);;All files (*)</source>
      <translation>Prompts (*.prompty);;Markdown und Text (*.md *.txt);;Python-Werkzeuge (*.py);;Alle Dateien (*)</translation>
    </message>
    <message>
      <source>Prompts and agents as files: edit, preview, step, export.&lt;br&gt;&lt;br&gt;Made with Qt {qversion} and Python. Icons by Lucide (ISC). Fonts: Inter and JetBrains Mono (SIL Open Font License).&lt;br&gt;License: MIT.</source>
      <translation>Prompts und Agenten als Dateien: bearbeiten, ansehen, Schritt für Schritt ausführen, exportieren.&lt;br&gt;&lt;br&gt;Gemacht mit Qt {qversion} und Python. Symbole von Lucide (ISC). Schriften: Inter und JetBrains Mono (SIL Open Font License).&lt;br&gt;Lizenz: MIT.</translation>
    </message>
    <message>
      <source>Prompts and resources</source>
      <translation>Prompts und Ressourcen</translation>
    </message>
    <message>
      <source>Prompts and resources of {label}</source>
      <translation>Prompts und Ressourcen von {label}</translation>
    </message>
    <message>
      <source>Prompts and resources…</source>
      <translation>Prompts und Ressourcen …</translation>
    </message>
    <message>
      <source>Prompts in these folders may run Python tools and MCP servers and read variables of the environment. A file cannot grant itself trust: you are asked once for each folder.</source>
      <translation>Prompts in diesen Ordnern dürfen Python-Werkzeuge und MCP-Server ausführen und Umgebungsvariablen lesen. Eine Datei kann sich nicht selbst Vertrauen geben: Sie werden für jeden Ordner einmal gefragt.</translation>
    </message>
    <message>
      <source>Prompts of other formats ({pattern})</source>
      <translation>Prompts anderer Formate ({pattern})</translation>
    </message>
    <message>
      <source>Prompts that name it will use the default.{with_key}</source>
      <translation>Prompts, die sie nennen, nehmen die Vorgabe.{with_key}</translation>
    </message>
    <message>
      <source>Prompty 1 (legacy)</source>
      <translation>Prompty 1 (alt)</translation>
    </message>
    <message>
      <source>Prompty 1 declares tools under model: write it in the text.</source>
      <translation>Prompty 1 nennt Werkzeuge unter model: schreiben Sie es in den Text.</translation>
    </message>
    <message>
      <source>Prompty 2</source>
      <translation>Prompty 2</translation>
    </message>
    <message>
      <source>Propose three texts</source>
      <translation>Drei Texte vorschlagen</translation>
    </message>
    <message>
      <source>Proposed texts</source>
      <translation>Vorgeschlagene Texte</translation>
    </message>
    <message>
      <source>Proposed texts are listed at the left; changes of the selected one are shown here.</source>
      <translation>Vorgeschlagene Texte stehen links; die Änderungen des gewählten stehen hier.</translation>
    </message>
    <message>
      <source>Proposer</source>
      <translation>Wer Texte vorschlägt</translation>
    </message>
    <message>
      <source>Prose is checked on this machine, with this language's dictionary.</source>
      <translation>Fließtext wird auf diesem Rechner geprüft, mit dem Wörterbuch dieser Sprache.</translation>
    </message>
    <message>
      <source>Protocol</source>
      <translation>Protokoll</translation>
    </message>
    <message>
      <source>Protocol of the file</source>
      <translation>Protokoll der Datei</translation>
    </message>
    <message>
      <source>Protocol to rewrite for</source>
      <translation>Protokoll, für das umgeschrieben wird</translation>
    </message>
    <message>
      <source>Provider, or the address of a server</source>
      <translation>Anbieter oder die Adresse eines Servers</translation>
    </message>
    <message>
      <source>Providers, your own servers, and the small model of the studio. Keys are stored in the system's key store, in variables, or for the session only.</source>
      <translation>Anbieter, eigene Server und das kleine Modell des Studios. Schlüssel liegen im Schlüsselspeicher des Systems, in Variablen oder nur für die Sitzung.</translation>
    </message>
    <message>
      <source>Put in</source>
      <translation>Einfügen</translation>
    </message>
    <message>
      <source>Put the caret on an input or a tool to find its uses.</source>
      <translation>Setzen Sie die Schreibmarke auf eine Eingabe oder ein Werkzeug, um die Verwendungen zu finden.</translation>
    </message>
    <message>
      <source>Put the caret on an input or a tool to rename it.</source>
      <translation>Setzen Sie die Schreibmarke auf eine Eingabe oder ein Werkzeug, um es umzubenennen.</translation>
    </message>
    <message>
      <source>Python</source>
      <translation>Python</translation>
    </message>
    <message>
      <source>Question</source>
      <translation>Frage</translation>
    </message>
    <message>
      <source>Quick fix…</source>
      <translation>Schnelle Abhilfe …</translation>
    </message>
    <message>
      <source>Quit</source>
      <translation>Beenden</translation>
    </message>
    <message>
      <source>Raise the limit and continue.</source>
      <translation>Die Grenze erhöhen und fortfahren.</translation>
    </message>
    <message>
      <source>Raw text instead of Markdown</source>
      <translation>Roher Text statt Markdown</translation>
    </message>
    <message>
      <source>ReAct text</source>
      <translation>ReAct-Text</translation>
    </message>
    <message>
      <source>Read as: {form}. Changed or lost:</source>
      <translation>Gelesen als: {form}. Nicht alles kommt so mit, wie es ist:</translation>
    </message>
    <message>
      <source>Read as: {form}. Nothing is lost.</source>
      <translation>Gelesen als: {form}. Alles kommt mit.</translation>
    </message>
    <message>
      <source>Read it</source>
      <translation>Lesen</translation>
    </message>
    <message>
      <source>Read it with the program itself</source>
      <translation>Vom Programm selbst lesen lassen</translation>
    </message>
    <message>
      <source>Readable</source>
      <translation>Lesbar</translation>
    </message>
    <message>
      <source>Reading the reply</source>
      <translation>Die Antwort wird gelesen</translation>
    </message>
    <message>
      <source>Reading {name}: {done} of {whole}</source>
      <translation>{name} wird gelesen: {done} von {whole}</translation>
    </message>
    <message>
      <source>Reading {name}: {done} of {whole} operations</source>
      <translation>{name} wird gelesen: {done} von {whole} Operationen</translation>
    </message>
    <message>
      <source>Reading…</source>
      <translation>Wird gelesen …</translation>
    </message>
    <message>
      <source>Ready</source>
      <translation>Bereit</translation>
    </message>
    <message>
      <source>Reasoning</source>
      <translation>Nachdenken</translation>
    </message>
    <message>
      <source>Recent</source>
      <translation>Zuletzt</translation>
    </message>
    <message>
      <source>Recently opened files are listed here.</source>
      <translation>Dateien, die Sie öffnen, stehen hier.</translation>
    </message>
    <message>
      <source>Record</source>
      <translation>Aufzeichnen</translation>
    </message>
    <message>
      <source>Record a program</source>
      <translation>Ein Programm aufzeichnen</translation>
    </message>
    <message>
      <source>Record a program…</source>
      <translation>Ein Programm aufzeichnen …</translation>
    </message>
    <message>
      <source>Record and replay</source>
      <translation>Aufzeichnen und wiedergeben</translation>
    </message>
    <message>
      <source>Record the program, or run the prompt again.</source>
      <translation>Zeichnen Sie das Programm auf, oder führen Sie den Prompt noch einmal aus.</translation>
    </message>
    <message>
      <source>Recording</source>
      <translation>Aufzeichnung</translation>
    </message>
    <message>
      <source>Recordings (*.jsonl);;All files (*)</source>
      <translation>Aufzeichnungen (*.jsonl);;Alle Dateien (*)</translation>
    </message>
    <message>
      <source>Records the replies of another connection, and replays them without it.</source>
      <translation>Nimmt auf, was eine andere Verbindung antwortet, und antwortet ohne sie dasselbe noch einmal.</translation>
    </message>
    <message>
      <source>Recover</source>
      <translation>Wiederherstellen</translation>
    </message>
    <message>
      <source>Redo</source>
      <translation>Wiederholen</translation>
    </message>
    <message>
      <source>Refusal</source>
      <translation>Ablehnung</translation>
    </message>
    <message>
      <source>Refuse it</source>
      <translation>Ablehnen</translation>
    </message>
    <message>
      <source>Refused: {reasons}</source>
      <translation>Abgelehnt: {reasons}</translation>
    </message>
    <message>
      <source>Regular expression (Alt+R)</source>
      <translation>Regulärer Ausdruck (Alt+R)</translation>
    </message>
    <message>
      <source>Reject</source>
      <translation>Ablehnen</translation>
    </message>
    <message>
      <source>Reject {tool}</source>
      <translation>{tool} ablehnen</translation>
    </message>
    <message>
      <source>Rejected by the server, so not sent for 30 days: {names}.</source>
      <translation>Vom Server nicht angenommen, daher 30 Tage lang nicht gesendet: {names}.</translation>
    </message>
    <message>
      <source>Reject…</source>
      <translation>Ablehnen …</translation>
    </message>
    <message>
      <source>Reload</source>
      <translation>Neu laden</translation>
    </message>
    <message>
      <source>Reload from disk</source>
      <translation>Von der Platte neu laden</translation>
    </message>
    <message>
      <source>Remove</source>
      <translation>Entfernen</translation>
    </message>
    <message>
      <source>Remove the breakpoint</source>
      <translation>Den Haltepunkt entfernen</translation>
    </message>
    <message>
      <source>Remove the last caret</source>
      <translation>Letzte Schreibmarke zurücknehmen</translation>
    </message>
    <message>
      <source>Remove this folder from Files</source>
      <translation>Diesen Ordner aus „Dateien“ entfernen</translation>
    </message>
    <message>
      <source>Remove this item</source>
      <translation>Diesen Eintrag entfernen</translation>
    </message>
    <message>
      <source>Remove this message</source>
      <translation>Diese Nachricht entfernen</translation>
    </message>
    <message>
      <source>Remove trailing blanks</source>
      <translation>Leerzeichen entfernen</translation>
    </message>
    <message>
      <source>Remove {name}</source>
      <translation>{name} entfernen</translation>
    </message>
    <message>
      <source>Remove {name} from Files</source>
      <translation>{name} aus „Dateien“ entfernen</translation>
    </message>
    <message>
      <source>Rename a tag</source>
      <translation>Schlagwort umbenennen</translation>
    </message>
    <message>
      <source>Rename input or tool…</source>
      <translation>Eingabe oder Werkzeug umbenennen …</translation>
    </message>
    <message>
      <source>Rename the tag “{tag}”…</source>
      <translation>Das Schlagwort „{tag}“ umbenennen …</translation>
    </message>
    <message>
      <source>Renamed in {names} too, and saved.</source>
      <translation>Auch in {names} umbenannt, und gespeichert.</translation>
    </message>
    <message>
      <source>Rename…</source>
      <translation>Umbenennen …</translation>
    </message>
    <message>
      <source>Rendering the prompt</source>
      <translation>Der Prompt wird ausgefüllt</translation>
    </message>
    <message>
      <source>Reopen the closed tab</source>
      <translation>Geschlossenen Tab wieder öffnen</translation>
    </message>
    <message>
      <source>Reopen the files of the last session</source>
      <translation>Die Dateien vom letzten Mal werden wieder geöffnet</translation>
    </message>
    <message>
      <source>Repair offered: {title}</source>
      <translation>Angebotene Reparatur: {title}</translation>
    </message>
    <message>
      <source>Repaired: {name}</source>
      <translation>Repariert: {name}</translation>
    </message>
    <message>
      <source>Repeat this step, and continue.</source>
      <translation>Dasselbe noch einmal tun und fortfahren.</translation>
    </message>
    <message>
      <source>Replace</source>
      <translation>Ersetzen</translation>
    </message>
    <message>
      <source>Replace all</source>
      <translation>Alle ersetzen</translation>
    </message>
    <message>
      <source>Replace all…</source>
      <translation>Alle ersetzen …</translation>
    </message>
    <message>
      <source>Replace in 1 file?</source>
      <translation>In 1 Datei ersetzen?</translation>
    </message>
    <message>
      <source>Replace in files</source>
      <translation>In Dateien ersetzen</translation>
    </message>
    <message>
      <source>Replace in files…</source>
      <translation>In Dateien ersetzen …</translation>
    </message>
    <message>
      <source>Replace in {count} files?</source>
      <translation>In {count} Dateien ersetzen?</translation>
    </message>
    <message>
      <source>Replace with</source>
      <translation>Ersetzen durch</translation>
    </message>
    <message>
      <source>Replace “{name}”</source>
      <translation>„{name}“ ersetzen</translation>
    </message>
    <message>
      <source>Replaced: {places}.</source>
      <translation>Ersetzt: {places}.</translation>
    </message>
    <message>
      <source>Replay exactly</source>
      <translation>Genau wiederholen</translation>
    </message>
    <message>
      <source>Replay the run exactly</source>
      <translation>Den Lauf genau wiedergeben</translation>
    </message>
    <message>
      <source>Replay this run with its replies, its tools' results and your edits. No model and no tool runs; breakpoints pause it.</source>
      <translation>Diesen Lauf noch einmal durchgehen, mit seinen Antworten, den Ergebnissen seiner Werkzeuge und Ihren eigenen Änderungen. Kein Modell wird gefragt, kein Werkzeug läuft; Haltepunkte halten ihn an.</translation>
    </message>
    <message>
      <source>Replies from a file, for stepping and demonstrations.</source>
      <translation>Antwortet aus einer Datei mit Antworten, zum schrittweisen Ausführen und zum Vorführen.</translation>
    </message>
    <message>
      <source>Replies have a valid format, a tool is called before the answer, and its arguments are words of the question.</source>
      <translation>Antworten sind lesbar, vor der Antwort wird ein Werkzeug gerufen, und dessen Argumente sind Wörter der Frage.</translation>
    </message>
    <message>
      <source>Replies have a valid format, and a tool is called before the answer.</source>
      <translation>Antworten sind lesbar, und vor der Antwort wird ein Werkzeug gerufen.</translation>
    </message>
    <message>
      <source>Reply</source>
      <translation>Antwort</translation>
    </message>
    <message>
      <source>Reply of the model</source>
      <translation>Antwort des Modells</translation>
    </message>
    <message>
      <source>Reply pauses at most</source>
      <translation>Antwort pausiert höchstens</translation>
    </message>
    <message>
      <source>Reply starts within</source>
      <translation>Antwort beginnt innerhalb von</translation>
    </message>
    <message>
      <source>Report of the error</source>
      <translation>Fehlerbericht</translation>
    </message>
    <message>
      <source>Request</source>
      <translation>Anfrage</translation>
    </message>
    <message>
      <source>Request body</source>
      <translation>Körper der Anfrage</translation>
    </message>
    <message>
      <source>Request body, JSON, {shape}</source>
      <translation>Rumpf der Anfrage, JSON, {shape}</translation>
    </message>
    <message>
      <source>Request that will be sent</source>
      <translation>Anfrage, die gesendet wird</translation>
    </message>
    <message>
      <source>Requested by this file</source>
      <translation>Von dieser Datei verlangt</translation>
    </message>
    <message>
      <source>Requests at once</source>
      <translation>Anfragen gleichzeitig</translation>
    </message>
    <message>
      <source>Requests sent in batches are still answered and charged. Run in batches again to read the answers.</source>
      <translation>Was in Batches gesendet wurde, wird noch beantwortet und bezahlt. Starten Sie erneut in Batches, um es zu lesen.</translation>
    </message>
    <message>
      <source>Required</source>
      <translation>Nötig</translation>
    </message>
    <message>
      <source>Reset all</source>
      <translation>Alles zurücksetzen</translation>
    </message>
    <message>
      <source>Reset layout</source>
      <translation>Anordnung zurücksetzen</translation>
    </message>
    <message>
      <source>Resource templates</source>
      <translation>Vorlagen von Ressourcen</translation>
    </message>
    <message>
      <source>Resources</source>
      <translation>Ressourcen</translation>
    </message>
    <message>
      <source>Responses</source>
      <translation>Responses</translation>
    </message>
    <message>
      <source>Restart</source>
      <translation>Neu starten</translation>
    </message>
    <message>
      <source>Restore unsaved texts at the next start</source>
      <translation>Nicht gesicherte Texte sind beim nächsten Start wieder da</translation>
    </message>
    <message>
      <source>Restricted</source>
      <translation>Eingeschränkt</translation>
    </message>
    <message>
      <source>Result</source>
      <translation>Ergebnis</translation>
    </message>
    <message>
      <source>Result of the call</source>
      <translation>Ergebnis des Aufrufs</translation>
    </message>
    <message>
      <source>Result of the tool</source>
      <translation>Was das Werkzeug antwortete</translation>
    </message>
    <message>
      <source>Results</source>
      <translation>Ergebnisse</translation>
    </message>
    <message>
      <source>Results of the test</source>
      <translation>Ergebnisse der Prüfung</translation>
    </message>
    <message>
      <source>Retries</source>
      <translation>Weitere Versuche</translation>
    </message>
    <message>
      <source>Revert these lines</source>
      <translation>Diese Zeilen zurücknehmen</translation>
    </message>
    <message>
      <source>Revision of the prompt (HEAD, a branch, a hash):</source>
      <translation>Revision des Prompts (HEAD, ein Zweig, ein Hash):</translation>
    </message>
    <message>
      <source>Rewrite</source>
      <translation>Umschreiben</translation>
    </message>
    <message>
      <source>Rewrite for another protocol</source>
      <translation>Für ein anderes Protokoll umschreiben</translation>
    </message>
    <message>
      <source>Rewrite for another protocol…</source>
      <translation>Für ein anderes Protokoll umschreiben …</translation>
    </message>
    <message>
      <source>Right answer</source>
      <translation>Rechte Antwort</translation>
    </message>
    <message>
      <source>Right is better</source>
      <translation>Rechts ist besser</translation>
    </message>
    <message>
      <source>Role of the message</source>
      <translation>Rolle der Nachricht</translation>
    </message>
    <message>
      <source>Round trip</source>
      <translation>Hin und zurück</translation>
    </message>
    <message>
      <source>Round trip {same}/{count}</source>
      <translation>Hin und zurück {same}/{count}</translation>
    </message>
    <message>
      <source>Row {row} is saved in {name}.</source>
      <translation>Zeile {row} ist in {name} gespeichert.</translation>
    </message>
    <message>
      <source>Row {row} · {variant}</source>
      <translation>Zeile {row} · {variant}</translation>
    </message>
    <message>
      <source>Rows</source>
      <translation>Zeilen</translation>
    </message>
    <message>
      <source>Rows (*.csv *.jsonl *.json *.yaml *.yml)</source>
      <translation>Zeilen (*.csv *.jsonl *.json *.yaml *.yml)</translation>
    </message>
    <message>
      <source>Rows and variants</source>
      <translation>Zeilen und Varianten</translation>
    </message>
    <message>
      <source>Rows of a file…</source>
      <translation>Zeilen einer Datei …</translation>
    </message>
    <message>
      <source>Rows passed of each tag, {name}</source>
      <translation>Bestandene Zeilen je Schlagwort, {name}</translation>
    </message>
    <message>
      <source>Rows passed, with 95 % intervals</source>
      <translation>Bestandene Zeilen, mit 95-%-Intervallen</translation>
    </message>
    <message>
      <source>Rows were added to {name}.</source>
      <translation>Zeilen sind zu {name} hinzugefügt.</translation>
    </message>
    <message>
      <source>Rows were removed from {name}.</source>
      <translation>Zeilen sind aus {name} entfernt.</translation>
    </message>
    <message>
      <source>Run</source>
      <translation>Lauf</translation>
    </message>
    <message>
      <source>Run</source>
      <comment>verb</comment>
      <translation>Ausführen</translation>
    </message>
    <message>
      <source>Run a prompt that is saved first (F5).</source>
      <translation>Führe zuerst einen gespeicherten Prompt aus (F5).</translation>
    </message>
    <message>
      <source>Run again from here</source>
      <translation>Von hier noch einmal weiterlaufen</translation>
    </message>
    <message>
      <source>Run again from the start</source>
      <translation>Noch einmal von vorn ausführen</translation>
    </message>
    <message>
      <source>Run again with these results</source>
      <translation>Mit diesen Ergebnissen noch einmal ausführen</translation>
    </message>
    <message>
      <source>Run all</source>
      <translation>Alle ausführen</translation>
    </message>
    <message>
      <source>Run all {count}</source>
      <translation>Alle {count} ausführen</translation>
    </message>
    <message>
      <source>Run cells without an answer again.</source>
      <translation>Fragen Sie Zellen ohne Antwort erneut.</translation>
    </message>
    <message>
      <source>Run failed cells again</source>
      <translation>Nicht bestandene erneut ausführen</translation>
    </message>
    <message>
      <source>Run from here with the open prompt</source>
      <translation>Von hier mit dem offenen Prompt, wie er jetzt ist</translation>
    </message>
    <message>
      <source>Run in its own window</source>
      <translation>Lauf in eigenem Fenster</translation>
    </message>
    <message>
      <source>Run it</source>
      <translation>Ausführen</translation>
    </message>
    <message>
      <source>Run on save</source>
      <translation>Beim Speichern ausführen</translation>
    </message>
    <message>
      <source>Run one column</source>
      <translation>Eine Spalte ausführen</translation>
    </message>
    <message>
      <source>Run or continue</source>
      <translation>Ausführen oder fortsetzen</translation>
    </message>
    <message>
      <source>Run the call unchanged.</source>
      <translation>Den Aufruf so ausführen, wie er dasteht.</translation>
    </message>
    <message>
      <source>Run the current text</source>
      <translation>Den jetzigen Text ausführen</translation>
    </message>
    <message>
      <source>Run the prompt first (F5).</source>
      <translation>Führen Sie den Prompt zuerst aus (F5).</translation>
    </message>
    <message>
      <source>Run the prompt of the editor with the inputs of this run. Equal tool calls get the recorded results; then both runs are compared.</source>
      <translation>Den Prompt ausführen, wie er im Editor steht, mit den Eingaben dieses Laufs. Ein Aufruf, den er schon gemacht hat, bekommt dasselbe Ergebnis, ohne zu laufen; dann werden beide verglichen.</translation>
    </message>
    <message>
      <source>Run the prompt with each of its cases</source>
      <translation>Den Prompt mit jedem seiner Fälle fragen</translation>
    </message>
    <message>
      <source>Run the prompt with each of its cases, in a table</source>
      <translation>Den Prompt mit jedem seiner Fälle ausführen, in einer Tabelle</translation>
    </message>
    <message>
      <source>Run the prompt, or continue</source>
      <translation>Den Prompt ausführen oder fortsetzen</translation>
    </message>
    <message>
      <source>Run the tool</source>
      <translation>Das Werkzeug ausführen</translation>
    </message>
    <message>
      <source>Run this row with the debugger, step by step (F10)</source>
      <translation>Diese Zeile im Debugger Schritt für Schritt ausführen (F10)</translation>
    </message>
    <message>
      <source>Run to the next pause, over details</source>
      <translation>Bis zum nächsten Halt, über Einzelheiten hinweg</translation>
    </message>
    <message>
      <source>Run to this point</source>
      <translation>Bis hierher ausführen</translation>
    </message>
    <message>
      <source>Run with the recorded answers</source>
      <translation>Der Lauf, dessen Antworten gegeben werden</translation>
    </message>
    <message>
      <source>Run with the sample</source>
      <translation>Mit dem Beispielwert ausführen</translation>
    </message>
    <message>
      <source>Run with the samples</source>
      <translation>Mit den Beispielwerten ausführen</translation>
    </message>
    <message>
      <source>Run with {model}</source>
      <translation>Mit {model} ausführen</translation>
    </message>
    <message>
      <source>Run without batches to see which request is wrong.</source>
      <translation>Fragen Sie ohne Batches, um zu sehen, welche Anfrage falsch ist.</translation>
    </message>
    <message>
      <source>Run {file} here</source>
      <translation>{file} hier ausführen</translation>
    </message>
    <message>
      <source>Run {name}</source>
      <translation>{name} ausführen</translation>
    </message>
    <message>
      <source>Run {tool}</source>
      <translation>{tool} ausführen</translation>
    </message>
    <message>
      <source>Run {tool}?</source>
      <translation>{tool} ausführen?</translation>
    </message>
    <message>
      <source>Running</source>
      <translation>Läuft</translation>
    </message>
    <message>
      <source>Running calls</source>
      <translation>Laufende Aufrufe</translation>
    </message>
    <message>
      <source>Running on workers: {text}</source>
      <translation>Auf Arbeitsprozessen gefragt: {text}</translation>
    </message>
    <message>
      <source>Running, {time}</source>
      <translation>Läuft, {time}</translation>
    </message>
    <message>
      <source>Runs</source>
      <translation>Läufe</translation>
    </message>
    <message>
      <source>Runs are deleted now and at every start. Pinned runs and running ones always stay. Deleted runs cannot be restored.</source>
      <translation>Läufe werden jetzt und bei jedem Start gelöscht. Angeheftete und laufende bleiben immer. Gelöschte Läufe lassen sich nicht wiederherstellen.</translation>
    </message>
    <message>
      <source>Runs of this prompt always pause at</source>
      <translation>Läufe dieses Prompts halten von selbst an bei</translation>
    </message>
    <message>
      <source>Runs will not be saved in History.</source>
      <translation>Läufe werden nicht im Verlauf behalten.</translation>
    </message>
    <message>
      <source>Runs, unsaved text, trust and logs</source>
      <translation>Läufe, nicht gespeicherter Text, Vertrauen und Protokolle</translation>
    </message>
    <message>
      <source>Safe mode: default settings, no tools, no trusted folder.</source>
      <translation>Abgesicherter Modus: übliche Einstellungen, keine Werkzeuge, kein vertrauter Ordner.</translation>
    </message>
    <message>
      <source>Sample, not sent: double-click to give {input!r} a value</source>
      <translation>Beispiel, wird nicht gesendet: ein Doppelklick gibt {input!r} einen Wert</translation>
    </message>
    <message>
      <source>Sample: &lt;code&gt;{sample}&lt;/code&gt;</source>
      <translation>Beispiel: &lt;code&gt;{sample}&lt;/code&gt;</translation>
    </message>
    <message>
      <source>Samples of the prompt</source>
      <translation>Beispiele des Prompts</translation>
    </message>
    <message>
      <source>Samples, not sent by a run: {names}.</source>
      <translation>Beispiele, die kein Lauf sendet: {names}.</translation>
    </message>
    <message>
      <source>Save</source>
      <translation>Speichern</translation>
    </message>
    <message>
      <source>Save all</source>
      <translation>Alle speichern</translation>
    </message>
    <message>
      <source>Save all and quit</source>
      <translation>Alles speichern und beenden</translation>
    </message>
    <message>
      <source>Save as UTF-8</source>
      <translation>Als UTF-8 speichern</translation>
    </message>
    <message>
      <source>Save as a file beside it</source>
      <translation>Als Datei daneben ablegen</translation>
    </message>
    <message>
      <source>Save as a set</source>
      <translation>Als Satz speichern</translation>
    </message>
    <message>
      <source>Save as a set…</source>
      <translation>Als Satz speichern …</translation>
    </message>
    <message>
      <source>Save as case</source>
      <translation>Als Fall speichern</translation>
    </message>
    <message>
      <source>Save as case of the open prompt</source>
      <translation>Als Fall des offenen Prompts behalten</translation>
    </message>
    <message>
      <source>Save as experiment</source>
      <translation>Als Experiment speichern</translation>
    </message>
    <message>
      <source>Save as samples in the prompt</source>
      <translation>Als Beispiele im Prompt behalten</translation>
    </message>
    <message>
      <source>Save as…</source>
      <translation>Speichern unter …</translation>
    </message>
    <message>
      <source>Save it as UTF-8 instead.</source>
      <translation>Stattdessen als UTF-8 speichern.</translation>
    </message>
    <message>
      <source>Save often; the studio's data folder cannot be written.</source>
      <translation>Speichern Sie oft; in den Datenordner des Studios kann nicht geschrieben werden.</translation>
    </message>
    <message>
      <source>Save prompt</source>
      <translation>Prompt speichern</translation>
    </message>
    <message>
      <source>Save the answer in its row as the expected one; this can be undone</source>
      <translation>Die Antwort als erwartete in ihre Zeile schreiben; das lässt sich zurücknehmen</translation>
    </message>
    <message>
      <source>Save the answers</source>
      <translation>Die Antworten speichern</translation>
    </message>
    <message>
      <source>Save the changes to {count} prompts?</source>
      <translation>Änderungen an {count} Prompts speichern?</translation>
    </message>
    <message>
      <source>Save the changes to {title}?</source>
      <translation>Die Änderungen an {title} speichern?</translation>
    </message>
    <message>
      <source>Save the columns and checks as an experiment with the same verdicts</source>
      <translation>Spalten und Prüfungen als Experiment schreiben, das dieselben Urteile gibt</translation>
    </message>
    <message>
      <source>Save the messages to a file, one JSON object per line</source>
      <translation>Die Nachrichten in eine Datei schreiben, eine je Zeile, als JSON</translation>
    </message>
    <message>
      <source>Save the new answers as the expected ones</source>
      <translation>Was jetzt geantwortet wurde, ist, was geantwortet werden muss</translation>
    </message>
    <message>
      <source>Save the picture in {name} as:</source>
      <translation>Das Bild in {name} speichern als:</translation>
    </message>
    <message>
      <source>Save the prompt first.</source>
      <translation>Speichern Sie den Prompt zuerst.</translation>
    </message>
    <message>
      <source>Save the prompt first: its calls are saved in a file beside it.</source>
      <translation>Sichern Sie zuerst den Prompt: Seine Aufrufe stehen in einer Datei daneben.</translation>
    </message>
    <message>
      <source>Save the prompt first: the file is saved beside it.</source>
      <translation>Speichern Sie zuerst den Prompt: Die Datei wird neben ihn gelegt.</translation>
    </message>
    <message>
      <source>Save the prompt first; a pasted picture is saved beside it.</source>
      <translation>Speichern Sie den Prompt zuerst; ein eingefügtes Bild wird daneben gespeichert.</translation>
    </message>
    <message>
      <source>Save this call</source>
      <translation>Diesen Aufruf sichern</translation>
    </message>
    <message>
      <source>Save this key</source>
      <translation>Diesen Schlüssel speichern</translation>
    </message>
    <message>
      <source>Saved</source>
      <translation>Gesichert</translation>
    </message>
    <message>
      <source>Saved as edited by you.</source>
      <translation>Gespeichert, wie Sie es bearbeitet haben.</translation>
    </message>
    <message>
      <source>Saved as {file}.</source>
      <translation>Abgelegt als {file}.</translation>
    </message>
    <message>
      <source>Saved as {name!r} in {file}.</source>
      <translation>Als {name!r} in {file} gesichert.</translation>
    </message>
    <message>
      <source>Saved calls and rows</source>
      <translation>Gesicherte Aufrufe und Zeilen</translation>
    </message>
    <message>
      <source>Saved calls and rows…</source>
      <translation>Gesicherte Aufrufe und Zeilen …</translation>
    </message>
    <message>
      <source>Saved calls: repeat one, save this one, run all as tests or for rows</source>
      <translation>Gesicherte Aufrufe: einen wiederholen, diesen sichern, alle als Tests oder über Zeilen ausführen</translation>
    </message>
    <message>
      <source>Saved file</source>
      <translation>Gesicherte Datei</translation>
    </message>
    <message>
      <source>Saved in {file_name}</source>
      <translation>Liegt in {file_name}</translation>
    </message>
    <message>
      <source>Saved {when}</source>
      <translation>Gesichert {when}</translation>
    </message>
    <message>
      <source>Save…</source>
      <translation>Speichern …</translation>
    </message>
    <message>
      <source>Saving also saves the recorded results of its tools.</source>
      <translation>Speichern behält auch die aufgezeichneten Antworten seiner Werkzeuge.</translation>
    </message>
    <message>
      <source>Saving also saves {count} input sets.</source>
      <translation>{count} Eingabesätze kommen mit, wenn er gespeichert wird.</translation>
    </message>
    <message>
      <source>Schema</source>
      <translation>Schema</translation>
    </message>
    <message>
      <source>Schema as JSON</source>
      <translation>Schema als JSON</translation>
    </message>
    <message>
      <source>Schema for the answer</source>
      <translation>Schema für die Antwort</translation>
    </message>
    <message>
      <source>Schema of the answer as JSON</source>
      <translation>Schema der Antwort als JSON</translation>
    </message>
    <message>
      <source>Script</source>
      <translation>Skript</translation>
    </message>
    <message>
      <source>Scripted replies</source>
      <translation>Antworten nach Skript</translation>
    </message>
    <message>
      <source>Scripts (*.json);;All files (*)</source>
      <translation>Skripte (*.json);;Alle Dateien (*)</translation>
    </message>
    <message>
      <source>Search</source>
      <translation>Suche</translation>
    </message>
    <message>
      <source>Search</source>
      <comment>verb</comment>
      <translation>Suchen</translation>
    </message>
    <message>
      <source>Search actions and keys</source>
      <translation>Aktionen und Tasten suchen</translation>
    </message>
    <message>
      <source>Search operations</source>
      <translation>Operationen suchen</translation>
    </message>
    <message>
      <source>Search settings</source>
      <translation>Einstellungen durchsuchen</translation>
    </message>
    <message>
      <source>Search targets</source>
      <translation>Ziele suchen</translation>
    </message>
    <message>
      <source>Search the guide</source>
      <translation>Im Handbuch suchen</translation>
    </message>
    <message>
      <source>Search tools</source>
      <translation>Werkzeuge suchen</translation>
    </message>
    <message>
      <source>Search tools…</source>
      <translation>Werkzeuge suchen …</translation>
    </message>
    <message>
      <source>Section</source>
      <translation>Abschnitt</translation>
    </message>
    <message>
      <source>Section dialect</source>
      <translation>Abschnitts-Dialekt</translation>
    </message>
    <message>
      <source>Section: {name}</source>
      <translation>Abschnitt: {name}</translation>
    </message>
    <message>
      <source>Select all</source>
      <translation>Alles auswählen</translation>
    </message>
    <message>
      <source>Select all listed</source>
      <translation>Alle aufgelisteten auswählen</translation>
    </message>
    <message>
      <source>Select one to be asked again</source>
      <translation>Wählen Sie eines, um wieder gefragt zu werden</translation>
    </message>
    <message>
      <source>Select the files to change.</source>
      <translation>Kreuzen Sie die Dateien an, in denen ersetzt wird.</translation>
    </message>
    <message>
      <source>Select the line</source>
      <translation>Zeile auswählen</translation>
    </message>
    <message>
      <source>Selected: the model gets the tool</source>
      <translation>Angekreuzt: das Werkzeug wird dem Modell angeboten</translation>
    </message>
    <message>
      <source>Send</source>
      <translation>Senden</translation>
    </message>
    <message>
      <source>Send back…</source>
      <translation>Zurückschicken …</translation>
    </message>
    <message>
      <source>Send it back</source>
      <translation>Zurückschicken</translation>
    </message>
    <message>
      <source>Send the next request to the model.</source>
      <translation>Das Modell noch einmal fragen, mit dem, was jetzt bekannt ist.</translation>
    </message>
    <message>
      <source>Send the request</source>
      <translation>Anfrage senden</translation>
    </message>
    <message>
      <source>Send the request again, on a new branch; this run keeps the higher limit.</source>
      <translation>Die Anfrage noch einmal senden, als neuer Zweig; dieser Lauf behält die höhere Grenze.</translation>
    </message>
    <message>
      <source>Send the request, and pause at the reply.</source>
      <translation>Das Modell fragen und mit seiner Antwort anhalten.</translation>
    </message>
    <message>
      <source>Send the result to the model</source>
      <translation>Ergebnis an das Modell senden</translation>
    </message>
    <message>
      <source>Send the same request again, on a new branch.</source>
      <translation>Dieselbe Anfrage noch einmal senden, als neuer Zweig.</translation>
    </message>
    <message>
      <source>Send these options again and check whether the server accepts them</source>
      <translation>Diese Optionen wieder senden, um zu sehen, ob sie angenommen werden</translation>
    </message>
    <message>
      <source>Send to a new endpoint?</source>
      <translation>An ein neues Ziel senden?</translation>
    </message>
    <message>
      <source>Send {count} results to the model</source>
      <translation>{count} Ergebnisse an das Modell senden</translation>
    </message>
    <message>
      <source>Sent in the same thread.</source>
      <translation>Im selben Gespräch gefragt.</translation>
    </message>
    <message>
      <source>Server</source>
      <translation>Server</translation>
    </message>
    <message>
      <source>Servers of other programs</source>
      <translation>Server anderer Programme</translation>
    </message>
    <message>
      <source>Set</source>
      <translation>Setzen</translation>
    </message>
    <message>
      <source>Set a breakpoint</source>
      <translation>Einen Haltepunkt setzen</translation>
    </message>
    <message>
      <source>Set a budget: of money, of tokens, or of calls.</source>
      <translation>Setze ein Budget: an Geld, Tokens oder Zellen.</translation>
    </message>
    <message>
      <source>Set how long runs are kept</source>
      <translation>Wählen, wie lange Läufe behalten werden</translation>
    </message>
    <message>
      <source>Set in the program's body for this request; null removes an option.</source>
      <translation>Für diese Anfrage im Inhalt des Programms gesetzt; null nimmt eine Option heraus.</translation>
    </message>
    <message>
      <source>Set options…</source>
      <translation>Optionen setzen…</translation>
    </message>
    <message>
      <source>Sets</source>
      <translation>Sätze</translation>
    </message>
    <message>
      <source>Settings</source>
      <translation>Einstellungen</translation>
    </message>
    <message>
      <source>Settings and connections</source>
      <translation>Einstellungen und Verbindungen</translation>
    </message>
    <message>
      <source>Settings…</source>
      <translation>Einstellungen …</translation>
    </message>
    <message>
      <source>Seven steps; Esc ends</source>
      <translation>Sieben Schritte; Esc beendet</translation>
    </message>
    <message>
      <source>Several calls at once</source>
      <translation>Mehrere Aufrufe zugleich</translation>
    </message>
    <message>
      <source>Show</source>
      <translation>Zeigen</translation>
    </message>
    <message>
      <source>Show all problems</source>
      <translation>Alle Probleme zeigen</translation>
    </message>
    <message>
      <source>Show details</source>
      <translation>Einzelheiten zeigen</translation>
    </message>
    <message>
      <source>Show errors, edits or calls of a tool only…</source>
      <translation>Nur Fehler, Änderungen oder Aufrufe eines Werkzeugs zeigen …</translation>
    </message>
    <message>
      <source>Show in the file manager</source>
      <translation>In der Dateiverwaltung zeigen</translation>
    </message>
    <message>
      <source>Show it</source>
      <translation>Zeigen</translation>
    </message>
    <message>
      <source>Show or hide the column on the right</source>
      <translation>Die Spalte rechts zeigen oder verbergen</translation>
    </message>
    <message>
      <source>Show or hide the panel</source>
      <translation>Die Leiste unten zeigen oder verbergen</translation>
    </message>
    <message>
      <source>Show or hide the side bar</source>
      <translation>Die Seitenleiste zeigen oder verbergen</translation>
    </message>
    <message>
      <source>Show or hide {toggle}</source>
      <translation>{toggle} zeigen oder verbergen</translation>
    </message>
    <message>
      <source>Show spaces and tabs</source>
      <translation>Leerzeichen und Tabulatoren werden gezeichnet</translation>
    </message>
    <message>
      <source>Show the diagram of the loop</source>
      <translation>Diagramm der Schleife zeigen</translation>
    </message>
    <message>
      <source>Show the last run of this prompt</source>
      <translation>Den letzten Lauf dieses Prompts zeigen</translation>
    </message>
    <message>
      <source>Show the problems</source>
      <translation>Die Probleme zeigen</translation>
    </message>
    <message>
      <source>Show this iteration on a time axis</source>
      <translation>Diesen Durchgang auf einer Zeitachse zeigen</translation>
    </message>
    <message>
      <source>Show values in the text</source>
      <translation>Werte im Text zeigen</translation>
    </message>
    <message>
      <source>Show variables and console</source>
      <translation>Variablen und Konsole zeigen</translation>
    </message>
    <message>
      <source>Show what it needs, then decide</source>
      <translation>Ansehen, was es will, dann entscheiden</translation>
    </message>
    <message>
      <source>Show where the prompt declares it</source>
      <translation>Zeigen, wo der Prompt es deklariert</translation>
    </message>
    <message>
      <source>Show whitespace</source>
      <translation>Leerzeichen zeigen</translation>
    </message>
    <message>
      <source>Show {left_out:,} more lines</source>
      <translation>{left_out:,} weitere Zeilen zeigen</translation>
    </message>
    <message>
      <source>Show {name}</source>
      <translation>{name} zeigen</translation>
    </message>
    <message>
      <source>Shown branch</source>
      <translation>Weg, der gezeigt wird</translation>
    </message>
    <message>
      <source>Shrink the selection</source>
      <translation>Auswahl verkleinern</translation>
    </message>
    <message>
      <source>Side bar</source>
      <translation>Seitenleiste</translation>
    </message>
    <message>
      <source>Size of the interface's text</source>
      <translation>Textgröße der Oberfläche</translation>
    </message>
    <message>
      <source>Skip</source>
      <translation>Überspringen</translation>
    </message>
    <message>
      <source>Skip the call and enter its result…</source>
      <translation>Den Aufruf überspringen, mit eigenem Ergebnis …</translation>
    </message>
    <message>
      <source>Skip this match</source>
      <translation>Diesen Treffer überspringen</translation>
    </message>
    <message>
      <source>Slow</source>
      <translation>Langsam</translation>
    </message>
    <message>
      <source>Smaller text</source>
      <translation>Kleinerer Text</translation>
    </message>
    <message>
      <source>SmolLM2 135M, on this machine</source>
      <translation>SmolLM2 135M, auf diesem Rechner</translation>
    </message>
    <message>
      <source>Some arguments need attention.</source>
      <translation>Einige Argumente brauchen Beachtung.</translation>
    </message>
    <message>
      <source>Some values need attention.</source>
      <translation>Einige Werte brauchen Aufmerksamkeit.</translation>
    </message>
    <message>
      <source>Something went wrong</source>
      <translation>Etwas ging schief</translation>
    </message>
    <message>
      <source>Something went wrong inside the studio.</source>
      <translation>Im Studio ging etwas schief.</translation>
    </message>
    <message>
      <source>Something went wrong.</source>
      <translation>Etwas ging schief.</translation>
    </message>
    <message>
      <source>Sorted</source>
      <translation>Sortiert</translation>
    </message>
    <message>
      <source>Sound (*.mp3 *.wav *.ogg *.m4a *.flac);;All files (*)</source>
      <translation>Ton (*.mp3 *.wav *.ogg *.m4a *.flac);;Alle Dateien (*)</translation>
    </message>
    <message>
      <source>Source</source>
      <translation>Quelle</translation>
    </message>
    <message>
      <source>Sources of tools…</source>
      <translation>Quellen der Werkzeuge …</translation>
    </message>
    <message>
      <source>Speed</source>
      <translation>Tempo</translation>
    </message>
    <message>
      <source>Speed compared with the original run</source>
      <translation>Wie viel schneller als es war</translation>
    </message>
    <message>
      <source>Speed of the model</source>
      <translation>Tempo des Modells</translation>
    </message>
    <message>
      <source>Spelling</source>
      <translation>Rechtschreibung</translation>
    </message>
    <message>
      <source>Spelling cannot be checked: {error}.</source>
      <translation>Die Rechtschreibung kann nicht geprüft werden: {error}.</translation>
    </message>
    <message>
      <source>Split editor</source>
      <translation>Editor teilen</translation>
    </message>
    <message>
      <source>Split editor downwards</source>
      <translation>Editor nach unten teilen</translation>
    </message>
    <message>
      <source>Start</source>
      <translation>Start</translation>
    </message>
    <message>
      <source>Start it with `llama-server -m FILE`.</source>
      <translation>Starten Sie ihn mit `llama-server -m DATEI`.</translation>
    </message>
    <message>
      <source>Start it with `ollama serve`.</source>
      <translation>Starten Sie es mit `ollama serve`.</translation>
    </message>
    <message>
      <source>Start it with `vllm serve MODEL`.</source>
      <translation>Starten Sie es mit `vllm serve MODELL`.</translation>
    </message>
    <message>
      <source>Start the local server in LM Studio's Developer tab.</source>
      <translation>Starten Sie den lokalen Server im Reiter „Developer“ von LM Studio.</translation>
    </message>
    <message>
      <source>Start the program with these variables; it is recorded until you stop it.</source>
      <translation>Starten Sie das Programm mit diesen Variablen; es wird aufgezeichnet, bis Sie es anhalten.</translation>
    </message>
    <message>
      <source>Started</source>
      <translation>Begonnen</translation>
    </message>
    <message>
      <source>Starting the tools</source>
      <translation>Werkzeuge werden bereit gemacht</translation>
    </message>
    <message>
      <source>State</source>
      <translation>Zustand</translation>
    </message>
    <message>
      <source>State of the run</source>
      <translation>Zustand des Laufs</translation>
    </message>
    <message>
      <source>Status and headers of the answer</source>
      <translation>Status und Kopfzeilen der Antwort</translation>
    </message>
    <message>
      <source>Status of the run</source>
      <translation>Wie der Lauf endete</translation>
    </message>
    <message>
      <source>Step</source>
      <translation>Schritt</translation>
    </message>
    <message>
      <source>Step into</source>
      <translation>Schritt hinein</translation>
    </message>
    <message>
      <source>Step out</source>
      <translation>Schritt hinaus</translation>
    </message>
    <message>
      <source>Step through</source>
      <translation>Schrittweise ausführen</translation>
    </message>
    <message>
      <source>Steps in time</source>
      <translation>Schritte in der Zeit</translation>
    </message>
    <message>
      <source>Steps of the run</source>
      <translation>Schritte des Laufs</translation>
    </message>
    <message>
      <source>Stop</source>
      <translation>Stopp</translation>
    </message>
    <message>
      <source>Stop before the next step</source>
      <translation>Vor dem nächsten Schritt anhalten</translation>
    </message>
    <message>
      <source>Stop it and run this prompt</source>
      <translation>Anhalten und diesen Prompt ausführen</translation>
    </message>
    <message>
      <source>Stop its processes and load it again</source>
      <translation>Beenden, was dahinter läuft, und neu laden</translation>
    </message>
    <message>
      <source>Stop playing</source>
      <translation>Wiedergabe anhalten</translation>
    </message>
    <message>
      <source>Stop reading {name}</source>
      <translation>Das Lesen von {name} anhalten</translation>
    </message>
    <message>
      <source>Stop sequences</source>
      <translation>Stoppfolgen</translation>
    </message>
    <message>
      <source>Stop the program</source>
      <translation>Das Programm anhalten</translation>
    </message>
    <message>
      <source>Stop this call</source>
      <translation>Diesen Aufruf stoppen</translation>
    </message>
    <message>
      <source>Stop trusting</source>
      <translation>Nicht mehr vertrauen</translation>
    </message>
    <message>
      <source>Stop trusting {folder}</source>
      <translation>{folder} nicht mehr vertrauen</translation>
    </message>
    <message>
      <source>Stop waiting; the received part of the reply is kept.</source>
      <translation>Nicht länger warten; was von der Antwort da ist, bleibt.</translation>
    </message>
    <message>
      <source>Stopped</source>
      <translation>Gestoppt</translation>
    </message>
    <message>
      <source>Stopped by you</source>
      <translation>Von Ihnen gestoppt</translation>
    </message>
    <message>
      <source>Stopped by you.</source>
      <translation>Von Ihnen angehalten.</translation>
    </message>
    <message>
      <source>Stopped.</source>
      <translation>Angehalten.</translation>
    </message>
    <message>
      <source>Stopped: it took too long</source>
      <translation>Gestoppt: es dauerte zu lange</translation>
    </message>
    <message>
      <source>Storage</source>
      <translation>Ablage</translation>
    </message>
    <message>
      <source>Storage locations</source>
      <translation>Speicherorte</translation>
    </message>
    <message>
      <source>Storage locations…</source>
      <translation>Was wo liegt …</translation>
    </message>
    <message>
      <source>Streaming</source>
      <translation>Streaming</translation>
    </message>
    <message>
      <source>Supplied by the run: {shown}</source>
      <translation>Vom Lauf geliefert: {shown}</translation>
    </message>
    <message>
      <source>Supported formats: Prompty, AgentSchema, request bodies, promptfoo, LangChain and chat text.</source>
      <translation>Bekannt sind Prompty, AgentSchema, Anfragen, promptfoo, LangChain und Chat-Text.</translation>
    </message>
    <message>
      <source>Swap the two sides</source>
      <translation>Die beiden Seiten tauschen</translation>
    </message>
    <message>
      <source>Tags</source>
      <translation>Stichwörter</translation>
    </message>
    <message>
      <source>Tags and a note of your own</source>
      <translation>Eigene Stichwörter und eine Notiz</translation>
    </message>
    <message>
      <source>Tags and note: {prompt}</source>
      <translation>Stichwörter und Notiz: {prompt}</translation>
    </message>
    <message>
      <source>Tags and note…</source>
      <translation>Stichwörter und Notiz …</translation>
    </message>
    <message>
      <source>Tags of {count} runs</source>
      <translation>Schlagwörter von {count} Läufen</translation>
    </message>
    <message>
      <source>Tags of {count} runs…</source>
      <translation>Schlagwörter von {count} Läufen …</translation>
    </message>
    <message>
      <source>Tags that all these runs share. Other tags stay unchanged.</source>
      <translation>Die, die alle haben. Andere Schlagwörter eines Laufs bleiben.</translation>
    </message>
    <message>
      <source>Tags, separated by commas</source>
      <translation>Stichwörter, durch Kommas getrennt</translation>
    </message>
    <message>
      <source>Take the next recorded answer</source>
      <translation>Die nächste aufgezeichnete Antwort nehmen</translation>
    </message>
    <message>
      <source>Takes effect after a restart.</source>
      <translation>Wirkt nach einem Neustart.</translation>
    </message>
    <message>
      <source>Takes no arguments</source>
      <translation>Nimmt keine Argumente</translation>
    </message>
    <message>
      <source>Tell the model</source>
      <translation>Dem Modell sagen</translation>
    </message>
    <message>
      <source>Tell the model what is missing, and continue.</source>
      <translation>Dem Modell sagen, was fehlt, und fortfahren.</translation>
    </message>
    <message>
      <source>Template language and rule set</source>
      <translation>Vorlagensprache und Regelwerk</translation>
    </message>
    <message>
      <source>Test</source>
      <translation>Probieren</translation>
    </message>
    <message>
      <source>Test whether the server responds, and each ability of the model with one request</source>
      <translation>Fragen, ob es antwortet, und sein Modell einmal nach jeder Fähigkeit</translation>
    </message>
    <message>
      <source>Testing the abilities of {model} …</source>
      <translation>{model} wird gefragt, was es kann …</translation>
    </message>
    <message>
      <source>Tests without a variant are skipped: {places}. The variants are: {names}.</source>
      <translation>Tests ohne Variante werden übergangen: {places}. Die Varianten sind: {names}.</translation>
    </message>
    <message>
      <source>Text</source>
      <translation>Text</translation>
    </message>
    <message>
      <source>Text for each item of a list</source>
      <translation>Text für jeden Eintrag einer Liste</translation>
    </message>
    <message>
      <source>Text of message {number}, {role}</source>
      <translation>Text der Nachricht {number}, {role}</translation>
    </message>
    <message>
      <source>Text of the message</source>
      <translation>Text der Nachricht</translation>
    </message>
    <message>
      <source>Text of the message; Ctrl+Enter adds another message</source>
      <translation>Text der Nachricht; Strg+Eingabe fügt die nächste an</translation>
    </message>
    <message>
      <source>Text size</source>
      <translation>Textgröße</translation>
    </message>
    <message>
      <source>Text under a condition</source>
      <translation>Text unter einer Bedingung</translation>
    </message>
    <message>
      <source>Text with no template in it</source>
      <translation>Text ohne Vorlage darin</translation>
    </message>
    <message>
      <source>Text {number}</source>
      <translation>Text {number}</translation>
    </message>
    <message>
      <source>Texts at most</source>
      <translation>Höchstens Texte</translation>
    </message>
    <message>
      <source>The .mcp.json of the folder</source>
      <translation>Die .mcp.json des Ordners</translation>
    </message>
    <message>
      <source>The MCP server {server} asks:</source>
      <translation>Der MCP-Server {server} fragt:</translation>
    </message>
    <message>
      <source>The actions so far, as text</source>
      <translation>Die bisherigen Aktionen, als Text</translation>
    </message>
    <message>
      <source>The answer appears here. Run: F5</source>
      <translation>Hier erscheint die Antwort. Ausführen: F5</translation>
    </message>
    <message>
      <source>The answer does not match the declared outputs</source>
      <translation>Die Antwort passt nicht zu den deklarierten Ausgaben</translation>
    </message>
    <message>
      <source>The answer is empty</source>
      <translation>Die Antwort ist leer</translation>
    </message>
    <message>
      <source>The answer now</source>
      <translation>Die Antwort jetzt</translation>
    </message>
    <message>
      <source>The answer to every call: JSON, or plain text</source>
      <translation>Die Antwort auf jeden Aufruf: JSON oder reiner Text</translation>
    </message>
    <message>
      <source>The answer was cut off</source>
      <translation>Die Antwort wurde abgeschnitten</translation>
    </message>
    <message>
      <source>The answer, before the run ends.</source>
      <translation>Die Antwort, bevor der Lauf endet.</translation>
    </message>
    <message>
      <source>The arguments do not match the schema</source>
      <translation>Die Argumente passen nicht zum Schema</translation>
    </message>
    <message>
      <source>The arguments do not match the tool</source>
      <translation>Die Argumente passen nicht zum Werkzeug</translation>
    </message>
    <message>
      <source>The assistant's message is changed as well, so that call and result match.</source>
      <translation>Die Nachricht des Assistenten wird mit geändert, damit Aufruf und Ergebnis zusammenpassen.</translation>
    </message>
    <message>
      <source>The baseline {name!r} does not exist: it is not a variant ({names}), and no result on this machine has that number or label. Name another, git:REVISION, or set one with `prompt-studio baseline set FILE`.</source>
      <translation>Die Vergleichsbasis {name!r} gibt es nicht: Sie ist keine Variante ({names}), und kein Ergebnis auf diesem Rechner hat diese Nummer oder diesen Namen. Nennen Sie eine andere, git:REVISION, oder legen Sie eine mit `prompt-studio baseline set FILE` an.</translation>
    </message>
    <message>
      <source>The batch expired before {connection} answered this request.</source>
      <translation>Der Batch lief ab, bevor {connection} diese Anfrage beantwortet hat.</translation>
    </message>
    <message>
      <source>The batch was cancelled before {connection} answered this request.</source>
      <translation>Der Batch wurde abgebrochen, bevor {connection} diese Anfrage beantwortet hat.</translation>
    </message>
    <message>
      <source>The budget is used up, except for the unseen rows.</source>
      <translation>Das Budget ist verbraucht, bis auf das, was die ungesehenen Zeilen brauchen.</translation>
    </message>
    <message>
      <source>The budget of {amount} is used up.</source>
      <translation>Das Budget von {amount} ist aufgebraucht.</translation>
    </message>
    <message>
      <source>The budget of {count:,} tokens is used up.</source>
      <translation>Das Budget von {count:,} Token ist aufgebraucht.</translation>
    </message>
    <message>
      <source>The built-in model runs here. Requests are sent only over connections that you add.</source>
      <translation>Das eingebaute Modell läuft hier. Anfragen gehen nur über eine Verbindung hinaus, die Sie anlegen.</translation>
    </message>
    <message>
      <source>The bundled model, SmolLM2 135M</source>
      <translation>Das mitgelieferte Modell, SmolLM2 135M</translation>
    </message>
    <message>
      <source>The call that this answers</source>
      <translation>Der Aufruf, auf den dies antwortet</translation>
    </message>
    <message>
      <source>The cases cannot be run.</source>
      <translation>Die Fälle können so nicht ausgeführt werden.</translation>
    </message>
    <message>
      <source>The cell has no answer.</source>
      <translation>Die Zelle hat keine Antwort.</translation>
    </message>
    <message>
      <source>The character {char!r} cannot be written in the file's encoding ({name}).</source>
      <translation>Das Zeichen {char!r} lässt sich in der Kodierung der Datei ({name}) nicht schreiben.</translation>
    </message>
    <message>
      <source>The clipboard contains no rows.</source>
      <translation>Die Zwischenablage enthält keine Zeilen.</translation>
    </message>
    <message>
      <source>The command has an unclosed quotation mark.</source>
      <translation>Ein Anführungszeichen des Befehls ist offen.</translation>
    </message>
    <message>
      <source>The connection to the scheduler was lost.</source>
      <translation>Die Verbindung zum Scheduler ist abgebrochen.</translation>
    </message>
    <message>
      <source>The connections are unchanged.</source>
      <translation>Die Verbindungen bleiben, wie sie waren.</translation>
    </message>
    <message>
      <source>The connections cannot be saved: {reason}.</source>
      <translation>Die Verbindungen können nicht gespeichert werden: {reason}.</translation>
    </message>
    <message>
      <source>The content of a file beside the prompt</source>
      <translation>Der Inhalt einer Datei neben dem Prompt</translation>
    </message>
    <message>
      <source>The conversation so far</source>
      <translation>Das bisherige Gespräch</translation>
    </message>
    <message>
      <source>The conversation so far (section dialect)</source>
      <translation>Das bisherige Gespräch (Abschnitts-Dialekt)</translation>
    </message>
    <message>
      <source>The conversation so far, as text</source>
      <translation>Das bisherige Gespräch, als Text</translation>
    </message>
    <message>
      <source>The diagram shows the current point of the run. At a pause you can edit the next step, go back, or fork.</source>
      <translation>Die Schleife leuchtet dort, wo der Lauf steht. An einer Pause können Sie bearbeiten, was als Nächstes kommt, zurückgehen oder abzweigen.</translation>
    </message>
    <message>
      <source>The earlier text could not be saved: {reason}.</source>
      <translation>Der frühere Text konnte nicht aufgehoben werden: {reason}.</translation>
    </message>
    <message>
      <source>The embedded model cannot be deleted</source>
      <translation>Das eingebettete Modell ist immer da</translation>
    </message>
    <message>
      <source>The end of the run was not saved: {error}.</source>
      <translation>Das Ende des Laufs ist nicht behalten: {error}.</translation>
    </message>
    <message>
      <source>The endpoint is allowed only once: {reason}.</source>
      <translation>Das Ziel ist erlaubt, aber nur einmal: {reason}.</translation>
    </message>
    <message>
      <source>The endpoint was not allowed.</source>
      <translation>Das Ziel wurde nicht erlaubt.</translation>
    </message>
    <message>
      <source>The exact messages at every keystroke; Request shows the body that is sent. Click a colored value to see where it comes from.</source>
      <translation>Die genauen Nachrichten bei jedem Tastendruck; Anfrage zeigt den Rumpf, der gesendet wird. Klicken Sie auf einen farbigen Wert, um zu sehen, woher er kommt.</translation>
    </message>
    <message>
      <source>The example could not be copied to your folder.</source>
      <translation>Das Beispiel konnte nicht in Ihren eigenen Ordner kopiert werden.</translation>
    </message>
    <message>
      <source>The example is not JSON: {error}.</source>
      <translation>Das Beispiel ist kein JSON: {error}.</translation>
    </message>
    <message>
      <source>The expected answer of row {row} was saved in {name}.</source>
      <translation>Die erwartete Antwort der Zeile {row} steht jetzt in {name}.</translation>
    </message>
    <message>
      <source>The experiment cannot be read; fix it first.</source>
      <translation>Das Experiment lässt sich nicht lesen; bringen Sie es zuerst in Ordnung.</translation>
    </message>
    <message>
      <source>The experiment file cannot be run.</source>
      <translation>Die Datei des Experiments lässt sich so nicht ausführen.</translation>
    </message>
    <message>
      <source>The experiment has changed: the failed row was run in its current form.</source>
      <translation>Das Experiment hat sich geändert: Das ist die Zeile, die nicht bestand, gefragt nach seinem jetzigen Stand.</translation>
    </message>
    <message>
      <source>The experiment has changed: the {count} failed rows were run in their current form.</source>
      <translation>Das Experiment hat sich geändert: Das sind die {count} Zeilen, die nicht bestanden, gefragt nach seinem jetzigen Stand.</translation>
    </message>
    <message>
      <source>The experiment has no assertions to decide which text is better.</source>
      <translation>Das Experiment hat keine Prüfungen, also sagt nichts, welcher Text besser ist.</translation>
    </message>
    <message>
      <source>The experiment has no variant to run.</source>
      <translation>Das Experiment hat keine Variante zum Ausführen.</translation>
    </message>
    <message>
      <source>The export failed ({error}); please report it.</source>
      <translation>Der Export gelang nicht ({error}); bitte melden Sie es.</translation>
    </message>
    <message>
      <source>The file cannot be used: {reason}.</source>
      <translation>Die Datei kann nicht benutzt werden: {reason}.</translation>
    </message>
    <message>
      <source>The file has mixed line ends; saving uses {name} throughout.</source>
      <translation>Die Datei mischt Zeilenenden; Speichern schreibt durchweg {name}.</translation>
    </message>
    <message>
      <source>The file is not UTF-8 text.</source>
      <translation>Die Datei ist kein UTF-8-Text.</translation>
    </message>
    <message>
      <source>The file is not changed.</source>
      <translation>Die Datei wird nicht geändert.</translation>
    </message>
    <message>
      <source>The file is not valid UTF-8; it is shown and saved as Latin-1.</source>
      <translation>Die Datei ist kein gültiges UTF-8; sie wird als Latin-1 gezeigt und gespeichert.</translation>
    </message>
    <message>
      <source>The file requests {model}.</source>
      <translation>Die Datei verlangt {model}.</translation>
    </message>
    <message>
      <source>The file was not changed: {error}</source>
      <translation>Die Datei wurde nicht geändert: {error}</translation>
    </message>
    <message>
      <source>The file was not moved. This drive may have no recycle bin.</source>
      <translation>Es liegt, wo es war. Vielleicht gibt es dort keinen Papierkorb.</translation>
    </message>
    <message>
      <source>The files of the experiment are larger than {size}, too large for workers.</source>
      <translation>Die Dateien des Experiments sind größer als {size}, zu groß für Worker.</translation>
    </message>
    <message>
      <source>The first difference is{where}; 1 of {count2} rows differs.</source>
      <translation>Der erste Unterschied ist{where}; 1 von {count2} Zeilen ist verschieden.</translation>
    </message>
    <message>
      <source>The first difference is{where}; {count} of {count2} rows differ.</source>
      <translation>Der erste Unterschied ist{where}; {count} von {count2} Zeilen sind verschieden.</translation>
    </message>
    <message>
      <source>The first item</source>
      <translation>Der erste Eintrag</translation>
    </message>
    <message>
      <source>The folder could not be searched: {name}.</source>
      <translation>Der Ordner konnte nicht durchsucht werden: {name}.</translation>
    </message>
    <message>
      <source>The folder is not trusted: its tools do not run, no variables are read, and its files are not sent. Click to trust {folder}.</source>
      <translation>Dem Ordner wird nicht vertraut: keines seiner Werkzeuge läuft, keine Variable wird gelesen, und keine seiner Dateien wird gesendet. Klicken, um {folder} zu vertrauen.</translation>
    </message>
    <message>
      <source>The format has no text: the observations are the answer.</source>
      <translation>Das Format hat keine eigenen Worte: die Beobachtungen stehen für sich.</translation>
    </message>
    <message>
      <source>The history cannot be used: {error}.</source>
      <translation>Der Verlauf kann nicht benutzt werden: {error}.</translation>
    </message>
    <message>
      <source>The history could not be changed: {error}.</source>
      <translation>Der Verlauf konnte nicht geändert werden: {error}.</translation>
    </message>
    <message>
      <source>The history could not be read ({name}).</source>
      <translation>Der Verlauf konnte nicht gelesen werden ({name}).</translation>
    </message>
    <message>
      <source>The input sets cannot be saved: {error}</source>
      <translation>Die Eingabesätze können nicht aufgehoben werden: {error}</translation>
    </message>
    <message>
      <source>The item before this one.</source>
      <translation>Der Eintrag vor diesem.</translation>
    </message>
    <message>
      <source>The item behind this one.</source>
      <translation>Der Eintrag nach diesem.</translation>
    </message>
    <message>
      <source>The items as one text: join(', ')</source>
      <translation>Die Einträge als ein Text: join(', ')</translation>
    </message>
    <message>
      <source>The items that fail a test</source>
      <translation>Die Einträge, die eine Prüfung nicht bestehen</translation>
    </message>
    <message>
      <source>The items that pass a test</source>
      <translation>Die Einträge, die eine Prüfung bestehen</translation>
    </message>
    <message>
      <source>The iteration has ended.</source>
      <translation>Der Durchgang ist fertig.</translation>
    </message>
    <message>
      <source>The judge did not answer: {said}</source>
      <translation>Der Bewerter antwortete nicht: {said}</translation>
    </message>
    <message>
      <source>The judge gave neither `pass` nor `score`.</source>
      <translation>Der Bewerter gab weder `pass` noch `score` an.</translation>
    </message>
    <message>
      <source>The judge's answer cannot be read: {text!r}</source>
      <translation>Der Bewerter antwortete Unsinn: {text!r}</translation>
    </message>
    <message>
      <source>The key is stored for this session only: {reason}.</source>
      <translation>Der Schlüssel wird nur für diese Sitzung behalten: {reason}.</translation>
    </message>
    <message>
      <source>The largest</source>
      <translation>Das größte</translation>
    </message>
    <message>
      <source>The last item</source>
      <translation>Der letzte Eintrag</translation>
    </message>
    <message>
      <source>The message</source>
      <translation>Die Nachricht</translation>
    </message>
    <message>
      <source>The messages become {roles}.</source>
      <translation>Aus den Nachrichten werden {roles}.</translation>
    </message>
    <message>
      <source>The messages of a step appear here exactly as they are sent.</source>
      <translation>Die Nachrichten eines Schritts erscheinen hier, genau wie sie gesendet werden.</translation>
    </message>
    <message>
      <source>The messages, the values of the inputs and the results of tools would be sent there</source>
      <translation>Die Nachrichten, die Werte der Eingaben und was Werkzeuge antworten, gingen dorthin</translation>
    </message>
    <message>
      <source>The model answers.</source>
      <translation>Das Modell antwortet.</translation>
    </message>
    <message>
      <source>The model answers{again}</source>
      <translation>Das Modell antwortet{again}</translation>
    </message>
    <message>
      <source>The model continues where it ended; both parts form one answer.</source>
      <translation>Das Modell schreibt dort weiter, wo es aufgehört hat; beide Teile sind eine Antwort.</translation>
    </message>
    <message>
      <source>The model did not respond</source>
      <translation>Das Modell antwortete nicht</translation>
    </message>
    <message>
      <source>The model does not accept {name}: left out.</source>
      <translation>Das Modell nimmt dies nicht an und bekommt es nicht: {name}.</translation>
    </message>
    <message>
      <source>The model gets it as a user message and continues.</source>
      <translation>Das Modell liest es als Nachricht der Person und macht weiter.</translation>
    </message>
    <message>
      <source>The model gets this as the observation for its reply.</source>
      <translation>Es liest dies als Beobachtung zu seiner Antwort.</translation>
    </message>
    <message>
      <source>The model gets this as the tool's result.</source>
      <translation>Das Modell bekommt dies als Ergebnis des Werkzeugs.</translation>
    </message>
    <message>
      <source>The model gets this reason. May be empty.</source>
      <translation>Das Modell bekommt diesen Grund. Darf leer sein.</translation>
    </message>
    <message>
      <source>The model has answered.</source>
      <translation>Das Modell hat geantwortet.</translation>
    </message>
    <message>
      <source>The model is told; the other calls and the run continue</source>
      <translation>Das Modell erfährt davon; die anderen Aufrufe und der Lauf gehen weiter</translation>
    </message>
    <message>
      <source>The model proposes no usable text: {reason}</source>
      <translation>Das Modell schlägt nichts vor, was verwendet werden darf: {reason}</translation>
    </message>
    <message>
      <source>The model received a part of {count} characters; metadata.agent.tool_output sets its length and side (head, tail, both).</source>
      <translation>Das Modell bekam einen Teil von {count} Zeichen; metadata.agent.tool_output sagt, wie viele und welche (head, tail, both).</translation>
    </message>
    <message>
      <source>The model refused</source>
      <translation>Das Modell lehnte ab</translation>
    </message>
    <message>
      <source>The model writes without restrictions.</source>
      <translation>Das Modell schreibt, was es will.</translation>
    </message>
    <message>
      <source>The model's reply appears here unchanged, colored by how it was parsed.</source>
      <translation>Die Antwort des Modells erscheint hier, wie sie geschrieben wird, gefärbt nach dem, als was sie gelesen wird.</translation>
    </message>
    <message>
      <source>The name was not changed: {error}</source>
      <translation>Der Name bleibt: {error}</translation>
    </message>
    <message>
      <source>The new name was written to {names}.</source>
      <translation>Der neue Name steht jetzt in {names}.</translation>
    </message>
    <message>
      <source>The next call of this reply; the model needs the results of all.</source>
      <translation>Der nächste Aufruf dieser Antwort; das Modell wartet auf alle.</translation>
    </message>
    <message>
      <source>The next result of this reply.</source>
      <translation>Das nächste Ergebnis dieser Antwort.</translation>
    </message>
    <message>
      <source>The next run repeats it.</source>
      <translation>Der nächste Lauf fragt sie noch einmal.</translation>
    </message>
    <message>
      <source>The number is too large.</source>
      <translation>Die Zahl ist zu groß.</translation>
    </message>
    <message>
      <source>The number of the item, from 0.</source>
      <translation>Die Nummer des Eintrags, ab 0.</translation>
    </message>
    <message>
      <source>The number of the item, from 1.</source>
      <translation>Die Nummer des Eintrags, ab 1.</translation>
    </message>
    <message>
      <source>The open prompt: {words}</source>
      <translation>Der offene Prompt: {words}</translation>
    </message>
    <message>
      <source>The order of its expressions has changed, and some are blocks.</source>
      <translation>Seine Ausdrücke stehen in anderer Reihenfolge, und Blöcke sind darunter.</translation>
    </message>
    <message>
      <source>The original is open; save it under another name to change it.</source>
      <translation>Es wird dort geöffnet, wo es ist; zum Ändern unter anderem Namen speichern.</translation>
    </message>
    <message>
      <source>The output was cut at the limit for tools.</source>
      <translation>Die Ausgabe wurde an der Grenze für Werkzeuge abgeschnitten.</translation>
    </message>
    <message>
      <source>The pasted text contains a prompt from another program.</source>
      <translation>Der eingefügte Text enthält einen Prompt eines anderen Programms.</translation>
    </message>
    <message>
      <source>The picture cannot be saved yet.</source>
      <translation>Das Bild hat noch keinen Ort.</translation>
    </message>
    <message>
      <source>The picture could not be saved as {name!r}.</source>
      <translation>Das Bild konnte nicht als {name!r} gespeichert werden.</translation>
    </message>
    <message>
      <source>The previous turn, row {row}, has no answer.</source>
      <translation>Die vorige Runde, Zeile {row}, hat keine Antwort.</translation>
    </message>
    <message>
      <source>The price of {model!r} is not known, so a budget of money cannot be enforced. Enter the price in its connection, or set a budget of tokens or calls.</source>
      <translation>Der Preis von {model!r} ist nicht bekannt, darum kann ein Geldbetrag nicht eingehalten werden. Geben Sie den Preis in der Verbindung ein, oder setzen Sie eine Grenze für Tokens oder Aufrufe.</translation>
    </message>
    <message>
      <source>The price of {model!r} is not known, so a budget of money cannot be enforced. Enter the price in its connection, or set a budget of tokens.</source>
      <translation>Der Preis von {model!r} ist nicht bekannt, darum kann ein Geldbetrag nicht eingehalten werden. Geben Sie den Preis in der Verbindung ein, oder setzen Sie eine Grenze für Tokens.</translation>
    </message>
    <message>
      <source>The program asks something else than in the recording.</source>
      <translation>Das Programm fragt etwas anderes als in der Aufzeichnung.</translation>
    </message>
    <message>
      <source>The program cannot be recorded.</source>
      <translation>Das Programm kann nicht aufgezeichnet werden.</translation>
    </message>
    <message>
      <source>The program decides what to request and call next: edit what it gets instead.</source>
      <translation>Das Programm entscheidet, was es als Nächstes fragt und aufruft: Ändern Sie stattdessen, was es bekommt.</translation>
    </message>
    <message>
      <source>The program ended during this run.</source>
      <translation>Das Programm endete, während dieser Lauf im Gange war.</translation>
    </message>
    <message>
      <source>The program has this reply already: set a breakpoint, or step from its request.</source>
      <translation>Das Programm hat diese Antwort schon: Setzen Sie einen Haltepunkt, oder gehen Sie in Schritten von seiner Anfrage aus.</translation>
    </message>
    <message>
      <source>The program is being recorded: its first call opens as a run.</source>
      <translation>Das Programm wird aufgezeichnet: Sein erster Aufruf öffnet sich als Lauf.</translation>
    </message>
    <message>
      <source>The program reads the file…</source>
      <translation>Das Programm liest die Datei …</translation>
    </message>
    <message>
      <source>The prompt cannot be rendered</source>
      <translation>Der Prompt kann nicht ausgefüllt werden</translation>
    </message>
    <message>
      <source>The prompt declares no inputs, so there is nothing to invent values for.</source>
      <translation>Der Prompt deklariert keine Eingaben, also gibt es nichts, wofür Werte zu erfinden wären.</translation>
    </message>
    <message>
      <source>The prompt file</source>
      <translation>Die Prompt-Datei</translation>
    </message>
    <message>
      <source>The prompt gets an input with the default ${file:…}; the server is not asked again</source>
      <translation>Der Prompt erhält eine Eingabe mit der Vorgabe ${file:…}; kein Server wird noch einmal gefragt</translation>
    </message>
    <message>
      <source>The prompt has an error: {message}{count}</source>
      <translation>Der Prompt hat einen Fehler: {message}{count}</translation>
    </message>
    <message>
      <source>The prompt has not been saved yet.</source>
      <translation>Der Prompt wurde noch nicht gespeichert.</translation>
    </message>
    <message>
      <source>The prompt is a file</source>
      <translation>Der Prompt ist eine Datei</translation>
    </message>
    <message>
      <source>The prompt is already tidy.</source>
      <translation>Der Prompt ist schon ordentlich.</translation>
    </message>
    <message>
      <source>The prompt is rendered; the request is ready to be sent.</source>
      <translation>Der Prompt ist ausgefüllt; die Anfrage kann gesendet werden.</translation>
    </message>
    <message>
      <source>The prompt names no program, address, variable or file yet.</source>
      <translation>Der Prompt nennt bisher kein Programm, keine Adresse, keine Variable und keine Datei.</translation>
    </message>
    <message>
      <source>The prompt no longer declares a tool {name!r}.</source>
      <translation>Der Prompt deklariert kein Werkzeug {name!r} mehr.</translation>
    </message>
    <message>
      <source>The prompt now requests {other}; this run uses {model}.</source>
      <translation>Der Prompt verlangt jetzt {other}; dieser Lauf hat {model}.</translation>
    </message>
    <message>
      <source>The prompt now requests {other}; {model} is not configured here.</source>
      <translation>Der Prompt verlangt jetzt {other}; {model} ist hier nicht eingerichtet.</translation>
    </message>
    <message>
      <source>The prompt produces JSON that is not a list of messages with `role` and `content`.</source>
      <translation>Der Prompt ergibt JSON, das keine Liste von Nachrichten mit `role` und `content` ist.</translation>
    </message>
    <message>
      <source>The prompt produces invalid JSON or YAML: {why}.</source>
      <translation>Der Prompt ergibt JSON oder YAML, das nicht gelesen werden kann: {why}.</translation>
    </message>
    <message>
      <source>The prompt's own</source>
      <translation>Das des Prompts</translation>
    </message>
    <message>
      <source>The provider's filter cut off the answer</source>
      <translation>Der Filter des Anbieters hat die Antwort gekürzt</translation>
    </message>
    <message>
      <source>The recording answers the program's calls; nothing is sent.</source>
      <translation>Die Aufzeichnung beantwortet die Aufrufe des Programms; nichts wird gesendet.</translation>
    </message>
    <message>
      <source>The recording has ended: 1 conversation.</source>
      <translation>Die Aufzeichnung ist beendet: 1 Gespräch.</translation>
    </message>
    <message>
      <source>The recording has ended: {count} conversations.</source>
      <translation>Die Aufzeichnung ist beendet: {count} Gespräche.</translation>
    </message>
    <message>
      <source>The recording has ended; the run is not changed.</source>
      <translation>Die Aufzeichnung ist beendet; der Lauf bleibt, wie er ist.</translation>
    </message>
    <message>
      <source>The replay has ended.</source>
      <translation>Das Abspielen ist zu Ende.</translation>
    </message>
    <message>
      <source>The replay is identical to the run.</source>
      <translation>Die Wiedergabe sagt dasselbe wie der Lauf, von der ersten Nachricht an.</translation>
    </message>
    <message>
      <source>The replies of {name}</source>
      <translation>Die Antworten von {name}</translation>
    </message>
    <message>
      <source>The reply broke off here; this part was received.</source>
      <translation>Die Antwort brach hier ab; das ist, was kam.</translation>
    </message>
    <message>
      <source>The reply contains no text between &lt;section&gt; and &lt;/section&gt;.</source>
      <translation>Die Antwort enthält keinen Text zwischen &lt;section&gt; und &lt;/section&gt;.</translation>
    </message>
    <message>
      <source>The reply has arrived; nothing was done yet.</source>
      <translation>Die Antwort ist da; getan wurde noch nichts.</translation>
    </message>
    <message>
      <source>The reply is invalid</source>
      <translation>Die Antwort kann nicht gelesen werden</translation>
    </message>
    <message>
      <source>The reply is parsed: an action, a final answer, or neither.</source>
      <translation>Die Antwort wird gelesen: eine Aktion, eine endgültige Antwort oder etwas Unlesbares.</translation>
    </message>
    <message>
      <source>The request as a command with masked keys</source>
      <translation>Die Anfrage als Befehl; Schlüssel sind darin verdeckt</translation>
    </message>
    <message>
      <source>The request body appears here exactly as it is sent.</source>
      <translation>Der Rumpf der Anfrage erscheint hier, genau wie er über die Leitung geht.</translation>
    </message>
    <message>
      <source>The request is ready.</source>
      <translation>Die Anfrage ist bereit.</translation>
    </message>
    <message>
      <source>The request that will be sent</source>
      <translation>Die Anfrage, die gesendet wird</translation>
    </message>
    <message>
      <source>The request was not saved.</source>
      <translation>Die Anfrage wurde nicht behalten.</translation>
    </message>
    <message>
      <source>The requests are equal to those of the previous recording.</source>
      <translation>Die Anfragen sind die der vorigen Aufzeichnung.</translation>
    </message>
    <message>
      <source>The rest is not shown.</source>
      <translation>Der Rest wird nicht gezeigt.</translation>
    </message>
    <message>
      <source>The result for the model; the tool's own result stays in the run.</source>
      <translation>Was das Modell bekommt; das eigene Ergebnis des Werkzeugs bleibt im Protokoll.</translation>
    </message>
    <message>
      <source>The result has pending batches, whose cells would be sent again. Choose batches to continue them.</source>
      <translation>Das Ergebnis hat laufende Batches, deren Zellen ein zweites Mal gefragt würden. Wählen Sie Batches, um mit ihnen fortzufahren.</translation>
    </message>
    <message>
      <source>The result is a failure</source>
      <translation>Es meldet einen Fehler</translation>
    </message>
    <message>
      <source>The result of the tool, for the model.</source>
      <translation>Was das Modell als Ergebnis des Werkzeugs bekommt.</translation>
    </message>
    <message>
      <source>The result was written to {name}.</source>
      <translation>Das Ergebnis wurde nach {name} geschrieben.</translation>
    </message>
    <message>
      <source>The results of the test cannot be saved.</source>
      <translation>Was der Test zeigte, kann nicht behalten werden.</translation>
    </message>
    <message>
      <source>The row does not belong to a file.</source>
      <translation>Die Zeile steht in keiner Datei.</translation>
    </message>
    <message>
      <source>The row is no longer in the dataset.</source>
      <translation>Die Zeile steht nicht mehr im Datensatz.</translation>
    </message>
    <message>
      <source>The rows were added to {name}.</source>
      <translation>Die Zeilen stehen jetzt in {name}.</translation>
    </message>
    <message>
      <source>The run broke off: {name}: {error}</source>
      <translation>Der Lauf brach ab: {name}: {error}</translation>
    </message>
    <message>
      <source>The run cannot go back to this place.</source>
      <translation>Der Lauf kann nicht an diese Stelle zurück.</translation>
    </message>
    <message>
      <source>The run could not be saved</source>
      <translation>Der Lauf konnte nicht behalten werden</translation>
    </message>
    <message>
      <source>The run could not be written or read ({name}).</source>
      <translation>Der Lauf konnte nicht geschrieben oder gelesen werden ({name}).</translation>
    </message>
    <message>
      <source>The run did not start, nothing was sent: {error}.</source>
      <translation>Der Lauf hat nicht begonnen, nichts wurde gesendet: {error}.</translation>
    </message>
    <message>
      <source>The run ends with this answer.</source>
      <translation>Der Lauf endet mit dieser Antwort.</translation>
    </message>
    <message>
      <source>The run failed</source>
      <translation>Der Lauf schlug fehl</translation>
    </message>
    <message>
      <source>The run has ended with an answer.</source>
      <translation>Der Lauf endete mit einer Antwort.</translation>
    </message>
    <message>
      <source>The run inserts the conversation here.</source>
      <translation>Hierher kommt das bisherige Gespräch; der Lauf setzt es ein.</translation>
    </message>
    <message>
      <source>The run is complete up to its last event.</source>
      <translation>Alles bis zu seinem letzten Ereignis ist hier.</translation>
    </message>
    <message>
      <source>The run is done.</source>
      <translation>Der Lauf ist fertig.</translation>
    </message>
    <message>
      <source>The run keeps its model.</source>
      <translation>Der Lauf behält das Modell, das er hat.</translation>
    </message>
    <message>
      <source>The run of this cell was not saved.</source>
      <translation>Der Lauf dieser Zelle wurde nicht aufgehoben.</translation>
    </message>
    <message>
      <source>The run of {name} and one other run were interrupted.</source>
      <translation>Der Lauf von {name} wurde unterbrochen, und ein weiterer.</translation>
    </message>
    <message>
      <source>The run of {name} and {count} other runs were interrupted.</source>
      <translation>Der Lauf von {name} wurde unterbrochen, und {count} weitere.</translation>
    </message>
    <message>
      <source>The run of {name} was interrupted.</source>
      <translation>Der Lauf von {name} wurde unterbrochen.</translation>
    </message>
    <message>
      <source>The run pauses at the next point.</source>
      <translation>Der Lauf hält an der nächsten Stelle an.</translation>
    </message>
    <message>
      <source>The run pauses at this many ({unit}):</source>
      <translation>Der Lauf hält bei so vielen an ({unit}):</translation>
    </message>
    <message>
      <source>The run pauses when the reply has arrived.</source>
      <translation>Der Lauf hält an, wenn die Antwort da ist.</translation>
    </message>
    <message>
      <source>The run pauses when the tool has returned.</source>
      <translation>Der Lauf hält an, sobald das Werkzeug geantwortet hat.</translation>
    </message>
    <message>
      <source>The run used {model}; the prompt now requests {other}.</source>
      <translation>Der Lauf hatte {model}; der Prompt verlangt jetzt {other}.</translation>
    </message>
    <message>
      <source>The run was added to {name} as a case.</source>
      <translation>Der Lauf ist jetzt ein Fall von {name}.</translation>
    </message>
    <message>
      <source>The run was stopped.</source>
      <translation>Der Lauf wurde gestoppt.</translation>
    </message>
    <message>
      <source>The run was written to {name}.</source>
      <translation>Der Lauf wurde nach {name} geschrieben.</translation>
    </message>
    <message>
      <source>The run's tools do not declare it.</source>
      <translation>Die Werkzeuge des Laufs deklarieren es nicht.</translation>
    </message>
    <message>
      <source>The same as question</source>
      <translation>Dasselbe wie question</translation>
    </message>
    <message>
      <source>The same call again</source>
      <translation>Derselbe Aufruf noch einmal</translation>
    </message>
    <message>
      <source>The same call for the third time</source>
      <translation>Derselbe Aufruf zum dritten Mal</translation>
    </message>
    <message>
      <source>The same prompt, twice</source>
      <translation>Derselbe Prompt zweimal</translation>
    </message>
    <message>
      <source>The sample is in a file: trust the folder to use it.</source>
      <translation>Das Beispiel steht in einer Datei: Vertrauen Sie dem Ordner, um es zu übernehmen.</translation>
    </message>
    <message>
      <source>The saved answer</source>
      <translation>Die gesicherte Antwort</translation>
    </message>
    <message>
      <source>The saved call</source>
      <translation>Der gesicherte Aufruf</translation>
    </message>
    <message>
      <source>The scheduler at {address} has no workers.</source>
      <translation>Der Scheduler unter {address} hat keine Worker.</translation>
    </message>
    <message>
      <source>The scheduler's page: {address}</source>
      <translation>Die Seite des Schedulers: {address}</translation>
    </message>
    <message>
      <source>The search never uses a third of the rows, which decide at the end. A text is only sent if it keeps the section's expressions and adds no role, tool or reference. The rows, their answers and the prompt are sent to the proposing model.</source>
      <translation>Ein Drittel der Zeilen sieht die Suche nie; es entscheidet. Jeder Text muss die Ausdrücke des Abschnitts behalten und darf keine Rolle, kein Werkzeug und keinen Verweis hinzufügen, bevor er gesendet wird. Die Zeilen, ihre Antworten und der Prompt gehen an das Modell, das vorschlägt.</translation>
    </message>
    <message>
      <source>The section before and after:</source>
      <translation>Der Abschnitt vorher und nachher:</translation>
    </message>
    <message>
      <source>The section {title!r} of {name} has changed since the search began; insert the text yourself.</source>
      <translation>Der Abschnitt {title!r} von {name} hat sich seit Beginn der Suche geändert; fügen Sie den Text selbst ein.</translation>
    </message>
    <message>
      <source>The server asks you to open this page in your browser:</source>
      <translation>Er möchte, dass Sie diese Seite in Ihrem Browser öffnen:</translation>
    </message>
    <message>
      <source>The servers were not changed: {error}</source>
      <translation>Die Server wurden nicht geändert: {error}</translation>
    </message>
    <message>
      <source>The settings cannot be written.</source>
      <translation>Die Einstellungen können nicht geschrieben werden.</translation>
    </message>
    <message>
      <source>The settings file cannot be read; the default settings are used.</source>
      <translation>Die Einstellungsdatei kann nicht gelesen werden; es gelten die üblichen Einstellungen.</translation>
    </message>
    <message>
      <source>The settings file was damaged; it was renamed to {name}.</source>
      <translation>Die Einstellungsdatei war beschädigt; sie ist als {name} aufgehoben.</translation>
    </message>
    <message>
      <source>The similarity is {found:.2f}; the threshold is {least:g}.</source>
      <translation>Die Ähnlichkeit ist {found:.2f}; verlangt wird {least:g}.</translation>
    </message>
    <message>
      <source>The size of the model's context window is not known.</source>
      <translation>Die Größe des Kontextfensters des Modells ist nicht bekannt.</translation>
    </message>
    <message>
      <source>The smallest</source>
      <translation>Das kleinste</translation>
    </message>
    <message>
      <source>The steps so far: thought, action, arguments, observation</source>
      <translation>Die bisherigen Schritte: thought, action, arguments, observation</translation>
    </message>
    <message>
      <source>The studio crashed in the last session.</source>
      <translation>Das Studio endete beim letzten Mal unerwartet.</translation>
    </message>
    <message>
      <source>The studio ended unexpectedly</source>
      <translation>Das Studio endete unerwartet</translation>
    </message>
    <message>
      <source>The studio exited before this was saved: {names}.</source>
      <translation>Das Studio endete, bevor dies gespeichert war: {names}.</translation>
    </message>
    <message>
      <source>The studio has no telemetry, update checks or error reports. A run sends the prompt, the inputs and the results of tools to the connection that you chose, and nowhere else; the embedded model is on this machine.</source>
      <translation>Das Studio hat keine Telemetrie, keine Suche nach Neuem und keine Fehlerberichte. Ein Lauf sendet den Prompt, die Eingaben und die Ergebnisse von Werkzeugen an die Verbindung, die Sie gewählt haben, und sonst nirgendwohin; das eingebaute Modell ist auf diesem Rechner.</translation>
    </message>
    <message>
      <source>The sum</source>
      <translation>Die Summe</translation>
    </message>
    <message>
      <source>The test was interrupted ({name}).</source>
      <translation>Der Versuch brach ab ({name}).</translation>
    </message>
    <message>
      <source>The text contains a character that UTF-8 cannot represent.</source>
      <translation>Der Text enthält ein Zeichen, das keine UTF-8-Datei halten kann.</translation>
    </message>
    <message>
      <source>The text could not be checked.</source>
      <translation>Der Text konnte nicht geprüft werden.</translation>
    </message>
    <message>
      <source>The text is still being parsed…</source>
      <translation>Der Text wird noch gelesen …</translation>
    </message>
    <message>
      <source>The text must match {pattern}</source>
      <translation>Der Text muss zu {pattern} passen</translation>
    </message>
    <message>
      <source>The texts are the same.</source>
      <translation>Die Texte sind gleich.</translation>
    </message>
    <message>
      <source>The time limit of 1 minute is reached.</source>
      <translation>Die Minute ist vorbei.</translation>
    </message>
    <message>
      <source>The time limit of {minutes:g} minutes has been reached.</source>
      <translation>Die {minutes:g} Minuten sind vorbei.</translation>
    </message>
    <message>
      <source>The tool call that the model requested, before it runs.</source>
      <translation>Der Werkzeugaufruf, den das Modell verlangte, bevor er läuft.</translation>
    </message>
    <message>
      <source>The tool does not run; the model gets this as its result.</source>
      <translation>Das Werkzeug läuft nicht; das Modell bekommt dies als sein Ergebnis.</translation>
    </message>
    <message>
      <source>The tool failed</source>
      <translation>Das Werkzeug schlug fehl</translation>
    </message>
    <message>
      <source>The tool itself</source>
      <translation>Das Werkzeug selbst</translation>
    </message>
    <message>
      <source>The tool ran, but its result is unknown.</source>
      <translation>Seine Arbeit ist getan; das Ergebnis ist nicht bekannt.</translation>
    </message>
    <message>
      <source>The tool runs.</source>
      <translation>Das Werkzeug läuft.</translation>
    </message>
    <message>
      <source>The tool runs: {names}</source>
      <translation>Das Werkzeug läuft: {names}</translation>
    </message>
    <message>
      <source>The tool was not inserted: {error}.</source>
      <translation>Das Werkzeug wurde nicht eingefügt: {error}.</translation>
    </message>
    <message>
      <source>The tool's process crashed</source>
      <translation>Der Prozess des Werkzeugs stürzte ab</translation>
    </message>
    <message>
      <source>The tools are in the prompt and are not sent separately: {reason}.</source>
      <translation>Die Werkzeuge stehen im Prompt und werden nicht eigens gesendet: {reason}.</translation>
    </message>
    <message>
      <source>The tools are starting. Stop (Shift+F5) cancels.</source>
      <translation>Die Werkzeuge werden bereit gemacht. Stopp (Umschalt+F5) gibt auf.</translation>
    </message>
    <message>
      <source>The tools change.</source>
      <translation>Die Werkzeuge ändern sich.</translation>
    </message>
    <message>
      <source>The tools of an MCP server</source>
      <translation>Die Werkzeuge eines MCP-Servers</translation>
    </message>
    <message>
      <source>The tools of this prompt are listed when you trust them.</source>
      <translation>Die Werkzeuge, die dieser Prompt nennt, stehen hier, sobald ihnen vertraut wird.</translation>
    </message>
    <message>
      <source>The tools' names</source>
      <translation>Die Namen der Werkzeuge</translation>
    </message>
    <message>
      <source>The tools: name, description, arguments</source>
      <translation>Die Werkzeuge: name, description, arguments</translation>
    </message>
    <message>
      <source>The turns of a `_conversation` depend on each other: run them without batches.</source>
      <translation>Die Züge eines `_conversation` hängen voneinander ab: führen Sie sie ohne Batches aus.</translation>
    </message>
    <message>
      <source>The user gave no answer.</source>
      <translation>Die Person gab keine Antwort.</translation>
    </message>
    <message>
      <source>The value is a conversation in JSON, but a value cannot set roles: declare a `thread` input in a .prompty file.</source>
      <translation>Der Wert ist ein Chat als JSON, und ein Wert erzeugt keine Rollen: Deklarieren Sie eine Eingabe `thread` in einer .prompty-Datei.</translation>
    </message>
    <message>
      <source>The value is evaluated as a template.</source>
      <translation>Der Wert wird als Vorlage gelesen und ausgerechnet.</translation>
    </message>
    <message>
      <source>The value of {name}:</source>
      <translation>Der Wert von {name}:</translation>
    </message>
    <message>
      <source>The variable is set.</source>
      <translation>Die Variable ist gesetzt.</translation>
    </message>
    <message>
      <source>The variant {name!r} is no longer in the file.</source>
      <translation>Die Variante {name!r} steht nicht mehr in der Datei.</translation>
    </message>
    <message>
      <source>The whole answer</source>
      <translation>Die ganze Antwort</translation>
    </message>
    <message>
      <source>The whole text, left</source>
      <translation>Der ganze Text, links</translation>
    </message>
    <message>
      <source>The whole text, right</source>
      <translation>Der ganze Text, rechts</translation>
    </message>
    <message>
      <source>The worker on {host} has Prompt Studio {theirs}; this machine has {ours}.</source>
      <translation>Der Worker auf {host} hat Prompt Studio {theirs}, hier läuft {ours}.</translation>
    </message>
    <message>
      <source>The worker on {host} lacks: {names}.</source>
      <translation>Dem Worker auf {host} fehlt: {names}.</translation>
    </message>
    <message>
      <source>The workers at {address} do not answer: {reason}</source>
      <translation>Die Worker unter {address} bleiben aus: {reason}</translation>
    </message>
    <message>
      <source>The {count} saved calls</source>
      <translation>Die {count} gesicherten Aufrufe</translation>
    </message>
    <message>
      <source>Theme</source>
      <translation>Thema</translation>
    </message>
    <message>
      <source>Theme of the system</source>
      <translation>Thema des Systems</translation>
    </message>
    <message>
      <source>There is no answer: {said}</source>
      <translation>Es gibt keine Antwort: {said}</translation>
    </message>
    <message>
      <source>There is no connection to the scheduler.</source>
      <translation>Der Scheduler ist nicht erreichbar.</translation>
    </message>
    <message>
      <source>There is no connection {name!r}; add one in the studio, or use an existing one.</source>
      <translation>Es gibt keine Verbindung {name!r}; fügen Sie im Studio eine hinzu oder nennen Sie eine vorhandene.</translation>
    </message>
    <message>
      <source>There is no earlier text.</source>
      <translation>Es gibt keinen früheren Text.</translation>
    </message>
    <message>
      <source>There is no file to reload.</source>
      <translation>Es gibt keine Datei zum Neuladen.</translation>
    </message>
    <message>
      <source>There is no file {name!r} beside the prompt.</source>
      <translation>Neben dem Prompt gibt es keine Datei {name!r}.</translation>
    </message>
    <message>
      <source>There is no folder to search.</source>
      <translation>Es gibt keinen Ordner zum Durchsuchen.</translation>
    </message>
    <message>
      <source>There is no folder {parent!r}.</source>
      <translation>Es gibt keinen Ordner {parent!r}.</translation>
    </message>
    <message>
      <source>There is no input or tool at the caret.</source>
      <translation>Hier hat nichts einen Namen.</translation>
    </message>
    <message>
      <source>There is no run to export.</source>
      <translation>Es gibt keinen Lauf zu exportieren.</translation>
    </message>
    <message>
      <source>There is no run to replay.</source>
      <translation>Es gibt keinen Lauf, der noch einmal durchgegangen werden könnte.</translation>
    </message>
    <message>
      <source>There is no run yet.</source>
      <translation>Es gibt noch keinen Lauf.</translation>
    </message>
    <message>
      <source>There is no such tool</source>
      <translation>Es gibt kein solches Werkzeug</translation>
    </message>
    <message>
      <source>There is no tool and no message on this line.</source>
      <translation>In dieser Zeile ist kein Werkzeug und keine Nachricht.</translation>
    </message>
    <message>
      <source>There is no variant {name!r}; there are: {known}.</source>
      <translation>Es gibt keine Variante {name!r}; vorhanden: {known}.</translation>
    </message>
    <message>
      <source>There is nothing recorded yet: choose a connection to record.</source>
      <translation>Noch ist nichts aufgezeichnet: wählen Sie eine Verbindung zum Aufzeichnen.</translation>
    </message>
    <message>
      <source>There is nothing to run.</source>
      <translation>Es gibt nichts auszuführen.</translation>
    </message>
    <message>
      <source>These are calls of a program. Start the program for another run.</source>
      <translation>Ein Programm hat diese Aufrufe gemacht. Für einen weiteren Lauf starten Sie es neu.</translation>
    </message>
    <message>
      <source>These are {count:,} cells (rows × variants × repeats), and an experiment has {most:,} at most: use fewer repeats, or part of the rows.</source>
      <translation>Das sind {count:,} Zellen (Zeilen × Varianten × Wiederholungen), und ein Experiment hat höchstens {most:,}: nehmen Sie weniger Wiederholungen oder einen Teil der Zeilen.</translation>
    </message>
    <message>
      <source>These cases cost about {cost}. How many US cents may a run cost at most?</source>
      <translation>Diese Fälle kosten etwa {cost}. Wie viele US-Cent darf ein Lauf höchstens kosten?</translation>
    </message>
    <message>
      <source>These have no value: {names}.</source>
      <translation>Diese haben keinen Wert: {names}.</translation>
    </message>
    <message>
      <source>They are lost if you do not save them.</source>
      <translation>Ohne Speichern gehen sie verloren.</translation>
    </message>
    <message>
      <source>They last until you close the studio.</source>
      <translation>Sie gelten, bis das Studio geschlossen wird.</translation>
    </message>
    <message>
      <source>This cannot be changed here.</source>
      <translation>Das kann hier nicht geändert werden.</translation>
    </message>
    <message>
      <source>This cannot be kept: {error}</source>
      <translation>Dies kann nicht gespeichert werden: {error}</translation>
    </message>
    <message>
      <source>This cannot be undone.</source>
      <translation>Das lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
      <source>This folder is not trusted.</source>
      <translation>Diesem Ordner wird nicht vertraut.</translation>
    </message>
    <message>
      <source>This format cannot be read back.</source>
      <translation>Aus dieser Form lässt sich nichts zurücklesen.</translation>
    </message>
    <message>
      <source>This is a folder: name a file.</source>
      <translation>Das ist ein Ordner: nennen Sie eine Datei.</translation>
    </message>
    <message>
      <source>This is a large file ({size}); checks run less often.</source>
      <translation>Dies ist eine große Datei ({size}); geprüft wird seltener.</translation>
    </message>
    <message>
      <source>This is not a JSON value.</source>
      <translation>Das ist kein JSON-Wert.</translation>
    </message>
    <message>
      <source>This is not a key: keys contain no blanks and no letters such as ü. Copy it again.</source>
      <translation>Das ist kein Schlüssel: Schlüssel haben keine Leerzeichen und keine Buchstaben wie ü. Bitte noch einmal kopieren.</translation>
    </message>
    <message>
      <source>This is not a web address.</source>
      <translation>Das ist keine Webadresse.</translation>
    </message>
    <message>
      <source>This is not the name of a variable. To enter the key itself, choose another place.</source>
      <translation>Das ist nicht der Name einer Variablen. Um den Schlüssel selbst einzugeben, wählen Sie einen anderen Ort.</translation>
    </message>
    <message>
      <source>This is unlikely to be chance ({p}).</source>
      <translation>Das ist wohl kein Zufall ({p}).</translation>
    </message>
    <message>
      <source>This iteration in time</source>
      <translation>Dieser Durchgang auf der Zeitachse</translation>
    </message>
    <message>
      <source>This name is not declared.</source>
      <translation>Dieser Name ist nicht deklariert.</translation>
    </message>
    <message>
      <source>This process</source>
      <translation>Dieser Prozess</translation>
    </message>
    <message>
      <source>This prompt</source>
      <translation>Dieser Prompt</translation>
    </message>
    <message>
      <source>This prompt and the .mcp.json of its folder</source>
      <translation>Dieser Prompt und die .mcp.json seines Ordners</translation>
    </message>
    <message>
      <source>This prompt names no tool file, server or description. Name a Python file under metadata.agent.tools, or an MCP server under metadata.agent.mcp_servers.</source>
      <translation>Dieser Prompt nennt keine Werkzeugdatei, keinen Server und keine Beschreibung. Nennen Sie eine Python-Datei unter metadata.agent.tools oder einen MCP-Server unter metadata.agent.mcp_servers.</translation>
    </message>
    <message>
      <source>This prompt uses {name}: {reason}.</source>
      <translation>Dieser Prompt spricht {name}: {reason}.</translation>
    </message>
    <message>
      <source>This prompt wants to send to</source>
      <translation>Dieser Prompt möchte senden an</translation>
    </message>
    <message>
      <source>This run</source>
      <translation>Dieser Lauf</translation>
    </message>
    <message>
      <source>This run belongs to another prompt: open {name}, then run it again.</source>
      <translation>Dieser Lauf gehört zu einem anderen Prompt: Öffnen Sie {name} und führen Sie ihn dann noch einmal aus.</translation>
    </message>
    <message>
      <source>This run has no point to continue from.</source>
      <translation>Dieser Lauf kam an keine Stelle, von der es weitergeht.</translation>
    </message>
    <message>
      <source>This run is too long to filter</source>
      <translation>Dieser Lauf ist zu lang, um gefiltert zu werden</translation>
    </message>
    <message>
      <source>This run only</source>
      <translation>Nur dieser Lauf</translation>
    </message>
    <message>
      <source>This run uses the text from its start. Run the editor's text from the beginning.</source>
      <translation>Dieser Lauf geht mit dem Text weiter, mit dem er begann. Den des Editors von Anfang an ausführen.</translation>
    </message>
    <message>
      <source>This step called no tool. Arguments, result and error stream appear here.</source>
      <translation>Dieser Schritt hat kein Werkzeug aufgerufen. Argumente, Ergebnis und Fehlerausgabe erscheinen hier.</translation>
    </message>
    <message>
      <source>This text is not applied yet. First apply or cancel it.</source>
      <translation>Dieser Text ist noch nicht übernommen. Übernehmen Sie ihn oder brechen Sie zuerst ab.</translation>
    </message>
    <message>
      <source>This text no longer exists.</source>
      <translation>Diesen Text gibt es nicht mehr.</translation>
    </message>
    <message>
      <source>This text takes long: it is first tried in a separate process.</source>
      <translation>Dieser Text braucht lange: er wird erst in einem eigenen Prozess gelesen.</translation>
    </message>
    <message>
      <source>This tool has changed. It asks before its next call.</source>
      <translation>Es ist nicht mehr das Werkzeug, das es war. Es fragt vor dem nächsten Aufruf.</translation>
    </message>
    <message>
      <source>This tool has side effects.</source>
      <translation>Dieses Werkzeug ändert etwas außerhalb.</translation>
    </message>
    <message>
      <source>This was not saved: {error}.</source>
      <translation>Dies ist nicht gespeichert: {error}.</translation>
    </message>
    <message>
      <source>Thought</source>
      <translation>Gedanke</translation>
    </message>
    <message>
      <source>Threads</source>
      <translation>Threads</translation>
    </message>
    <message>
      <source>Throw away</source>
      <translation>Verwerfen</translation>
    </message>
    <message>
      <source>Tidy the prompt</source>
      <translation>Den Prompt ordnen</translation>
    </message>
    <message>
      <source>Time</source>
      <translation>Zeit</translation>
    </message>
    <message>
      <source>Time of a cell: median and 95th percentile</source>
      <translation>Zeit einer Zelle: Median und 95. Perzentil</translation>
    </message>
    <message>
      <source>To be sent: {sent}. Equal to earlier requests, at no cost: {equal}.</source>
      <translation>Zu senden: {sent}. Gleich wie frühere Anfragen, ohne Kosten: {equal}.</translation>
    </message>
    <message>
      <source>To detect a difference of 5 points at this rate of change, about {needed} rows are needed; there are {rows}.</source>
      <translation>Um 5 Punkte zu erkennen, braucht es bei so viel Änderung etwa {needed} Zeilen; es sind {rows}.</translation>
    </message>
    <message>
      <source>To the place after</source>
      <translation>Zur Stelle danach</translation>
    </message>
    <message>
      <source>To the place before</source>
      <translation>Zur Stelle davor</translation>
    </message>
    <message>
      <source>To use none of its tools, remove the server from the prompt yourself.</source>
      <translation>Ohne Werkzeug wird ein Server von Hand aus dem Prompt entfernt.</translation>
    </message>
    <message>
      <source>Tokens</source>
      <translation>Token</translation>
    </message>
    <message>
      <source>Too few rows for a reliable result ({count}): for 8 passes in 10 rows, the 95 % interval is 49 to 94 %.</source>
      <translation>Zu wenige Zeilen für ein verlässliches Ergebnis ({count}): bei 8 bestandenen von 10 Zeilen reicht das 95-%-Intervall von 49 bis 94 %.</translation>
    </message>
    <message>
      <source>Too long to compare with {name} here</source>
      <translation>Zu lang, um hier mit {name} verglichen zu werden</translation>
    </message>
    <message>
      <source>Took</source>
      <translation>Dauer</translation>
    </message>
    <message>
      <source>Tool</source>
      <translation>Werkzeug</translation>
    </message>
    <message>
      <source>Tool call {number}</source>
      <translation>Werkzeugaufruf {number}</translation>
    </message>
    <message>
      <source>Tool calls</source>
      <translation>Aufrufe</translation>
    </message>
    <message>
      <source>Tool errors</source>
      <translation>Fehler von Werkzeugen</translation>
    </message>
    <message>
      <source>Tool to call</source>
      <translation>Aufzurufendes Werkzeug</translation>
    </message>
    <message>
      <source>Tool {name}</source>
      <translation>Werkzeug {name}</translation>
    </message>
    <message>
      <source>Toolbar</source>
      <translation>Werkzeugleiste</translation>
    </message>
    <message>
      <source>Tools</source>
      <translation>Werkzeuge</translation>
    </message>
    <message>
      <source>Tools in a separate window</source>
      <translation>Werkzeuge in einem eigenen Fenster</translation>
    </message>
    <message>
      <source>Tools in this step</source>
      <translation>Werkzeuge in diesem Schritt</translation>
    </message>
    <message>
      <source>Tools of the prompt, of Python files and of MCP servers. You can call them here.</source>
      <translation>Werkzeuge des Prompts, von Python-Dateien und von MCP-Servern. Probieren Sie eines hier von Hand.</translation>
    </message>
    <message>
      <source>Tools of the server</source>
      <translation>Werkzeuge des Servers</translation>
    </message>
    <message>
      <source>Tools of this prompt</source>
      <translation>Werkzeuge dieses Prompts</translation>
    </message>
    <message>
      <source>Tools of this prompt, as YAML (section dialect)</source>
      <translation>Werkzeuge dieses Prompts, als YAML (Abschnitts-Dialekt)</translation>
    </message>
    <message>
      <source>Tools of this prompt, before any text</source>
      <translation>Werkzeuge dieses Prompts, vor jedem Text</translation>
    </message>
    <message>
      <source>Tools return the recorded results for equal calls</source>
      <translation>Tools antworten wie damals, wo die Aufrufe gleich sind</translation>
    </message>
    <message>
      <source>Tools that it may call</source>
      <translation>Was er aufrufen darf</translation>
    </message>
    <message>
      <source>Tools: ≈{tools:,}</source>
      <translation>Werkzeuge: ≈{tools:,}</translation>
    </message>
    <message>
      <source>Total</source>
      <translation>Zusammen</translation>
    </message>
    <message>
      <source>Tour of the window</source>
      <translation>Rundgang durch das Fenster</translation>
    </message>
    <message>
      <source>Traffic of {label}</source>
      <translation>Verkehr von {label}</translation>
    </message>
    <message>
      <source>Traffic…</source>
      <translation>Verkehr …</translation>
    </message>
    <message>
      <source>Treat as answer…</source>
      <translation>Als Antwort behandeln …</translation>
    </message>
    <message>
      <source>Treat as the answer</source>
      <translation>Als die Antwort behandeln</translation>
    </message>
    <message>
      <source>Tried with:
{text}</source>
      <translation>Versucht mit:
{text}</translation>
    </message>
    <message>
      <source>Tries again in {seconds} s. {reason}</source>
      <translation>Versucht es in {seconds} s noch einmal. {reason}</translation>
    </message>
    <message>
      <source>Trim the ends of lines</source>
      <translation>Zeilenenden kürzen</translation>
    </message>
    <message>
      <source>Trust</source>
      <translation>Vertrauen</translation>
    </message>
    <message>
      <source>Trust in the folder</source>
      <translation>Vertrauen in den Ordner</translation>
    </message>
    <message>
      <source>Trust in the folder…</source>
      <translation>Vertrauen in den Ordner …</translation>
    </message>
    <message>
      <source>Trust the folder, then run again.</source>
      <translation>Vertrauen Sie dem Ordner und starten Sie noch einmal.</translation>
    </message>
    <message>
      <source>Trust this folder?</source>
      <translation>Diesem Ordner vertrauen?</translation>
    </message>
    <message>
      <source>Trust {folder} and its subfolders? Its prompts may then run Python tools, start programs and read environment variables. This prompt names:</source>
      <translation>{folder} und den Ordnern darin vertrauen? Ihre Prompts dürfen dann Python-Werkzeuge ausführen, Programme starten und Umgebungsvariablen lesen. Dieser Prompt nennt:</translation>
    </message>
    <message>
      <source>Trust {folder}…</source>
      <translation>{folder} vertrauen …</translation>
    </message>
    <message>
      <source>Trusted</source>
      <translation>Vertraut</translation>
    </message>
    <message>
      <source>Trusted folders</source>
      <translation>Vertraute Ordner</translation>
    </message>
    <message>
      <source>Trust…</source>
      <translation>Vertrauen …</translation>
    </message>
    <message>
      <source>Try</source>
      <translation>Ausprobieren</translation>
    </message>
    <message>
      <source>Try again</source>
      <translation>Noch einmal versuchen</translation>
    </message>
    <message>
      <source>Try again in a moment.</source>
      <translation>Versuchen Sie es gleich noch einmal.</translation>
    </message>
    <message>
      <source>Try it</source>
      <translation>Ausprobieren</translation>
    </message>
    <message>
      <source>Try one: they run immediately, without an account</source>
      <translation>Probieren Sie eines: sie laufen sofort, ohne Konto</translation>
    </message>
    <message>
      <source>Try this call again</source>
      <translation>Diesen Aufruf erneut versuchen</translation>
    </message>
    <message>
      <source>Trying</source>
      <translation>Wird versucht</translation>
    </message>
    <message>
      <source>Trying …</source>
      <translation>Wird versucht …</translation>
    </message>
    <message>
      <source>Trying…</source>
      <translation>Wird ausprobiert …</translation>
    </message>
    <message>
      <source>Turn off animations</source>
      <translation>Animationen ausschalten</translation>
    </message>
    <message>
      <source>Type a command</source>
      <translation>Befehl eingeben</translation>
    </message>
    <message>
      <source>Type and description</source>
      <translation>Typ und Beschreibung</translation>
    </message>
    <message>
      <source>Type the text to find.</source>
      <translation>Tippen Sie, wonach gesucht wird.</translation>
    </message>
    <message>
      <source>Typical</source>
      <translation>Typisch</translation>
    </message>
    <message>
      <source>Unaided</source>
      <translation>Ohne Hilfe</translation>
    </message>
    <message>
      <source>Unchanged</source>
      <translation>Unverändert</translation>
    </message>
    <message>
      <source>Undo</source>
      <translation>Rückgängig</translation>
    </message>
    <message>
      <source>Unfold all</source>
      <translation>Alles ausklappen</translation>
    </message>
    <message>
      <source>Unfold here</source>
      <translation>Hier ausklappen</translation>
    </message>
    <message>
      <source>Unfold this iteration</source>
      <translation>Diesen Durchgang ausklappen</translation>
    </message>
    <message>
      <source>Unknown model: everything except images is sent until its server refuses.</source>
      <translation>Unbekanntes Modell: alles außer Bildern wird gesendet, bis sein Server es ablehnt.</translation>
    </message>
    <message>
      <source>Unknown settings were ignored: {names}.</source>
      <translation>Einstellungen ohne Sinn wurden weggelassen: {names}.</translation>
    </message>
    <message>
      <source>Unpin</source>
      <translation>Lösen</translation>
    </message>
    <message>
      <source>Unreadable reply</source>
      <translation>Unlesbare Antwort</translation>
    </message>
    <message>
      <source>Unsaved changes</source>
      <translation>Nicht gespeicherte Änderungen</translation>
    </message>
    <message>
      <source>Unsaved text cannot be protected from a crash.</source>
      <translation>Nicht gespeicherter Text kann nicht gegen einen Absturz gesichert werden.</translation>
    </message>
    <message>
      <source>Until you trust it, its Python tools and MCP servers do not run, no variables are read, and none of its files is sent. The preview may show text files of the opened folder.</source>
      <translation>Bis Sie ihm vertrauen, laufen seine Python-Werkzeuge und MCP-Server nicht, keine Variable wird gelesen, und keine Datei daraus wird gesendet. Die Vorschau kann Textdateien des geöffneten Ordners zeigen.</translation>
    </message>
    <message>
      <source>Untitled</source>
      <translation>Unbenannt</translation>
    </message>
    <message>
      <source>Update prices</source>
      <translation>Preise aktualisieren</translation>
    </message>
    <message>
      <source>Update “{current}”</source>
      <translation>„{current}“ auffrischen</translation>
    </message>
    <message>
      <source>Usage</source>
      <translation>Verbrauch</translation>
    </message>
    <message>
      <source>Use</source>
      <translation>Verwenden</translation>
    </message>
    <message>
      <source>Use Save As, or change its permissions.</source>
      <translation>„Speichern unter“ verwenden oder die Rechte der Datei ändern.</translation>
    </message>
    <message>
      <source>Use a name that ends in .png or .jpg, in a writable folder.</source>
      <translation>Nehmen Sie einen Namen, der auf .png oder .jpg endet, in einem beschreibbaren Ordner.</translation>
    </message>
    <message>
      <source>Use another, or change the file.</source>
      <translation>Verwenden Sie eine andere, oder ändern Sie die Datei.</translation>
    </message>
    <message>
      <source>Use as answer</source>
      <translation>Als Antwort verwenden</translation>
    </message>
    <message>
      <source>Use as result</source>
      <translation>Als Ergebnis verwenden</translation>
    </message>
    <message>
      <source>Use in code</source>
      <translation>Im Code verwenden</translation>
    </message>
    <message>
      <source>Use in {folder}</source>
      <translation>In {folder} verwenden</translation>
    </message>
    <message>
      <source>Use it like a complete reply, up to the next pause.</source>
      <translation>Wie eine ganze Antwort lesen, bis zum nächsten Halt.</translation>
    </message>
    <message>
      <source>Use the received part as the final answer.</source>
      <translation>Das, was kam, als endgültige Antwort nehmen.</translation>
    </message>
    <message>
      <source>Use the sample of {name}</source>
      <translation>Das Beispiel von {name} übernehmen</translation>
    </message>
    <message>
      <source>Use the text on disk; undo restores yours</source>
      <translation>Den Text auf der Platte nehmen; Rückgängig führt zu Ihrem zurück</translation>
    </message>
    <message>
      <source>Use this part</source>
      <translation>Diesen Teil verwenden</translation>
    </message>
    <message>
      <source>Use {name}</source>
      <translation>{name} verwenden</translation>
    </message>
    <message>
      <source>Use {name} in {folder}</source>
      <translation>{name} in {folder} verwenden</translation>
    </message>
    <message>
      <source>Used so far, and limits</source>
      <translation>Bisher verbraucht, und Grenzen</translation>
    </message>
    <message>
      <source>User guide</source>
      <translation>Handbuch</translation>
    </message>
    <message>
      <source>Uses of {name}</source>
      <translation>Verwendungen von {name}</translation>
    </message>
    <message>
      <source>Usual</source>
      <translation>Üblich</translation>
    </message>
    <message>
      <source>Value</source>
      <translation>Wert</translation>
    </message>
    <message>
      <source>Value now: &lt;code&gt;{value}&lt;/code&gt;</source>
      <translation>Wert jetzt: &lt;code&gt;{value}&lt;/code&gt;</translation>
    </message>
    <message>
      <source>Value of the input {input!r}; double-click to edit it</source>
      <translation>Wert der Eingabe {input!r}; ein Doppelklick bearbeitet ihn</translation>
    </message>
    <message>
      <source>Value of the input “{name}”, line {line}. Ctrl+click edits it.</source>
      <translation>Wert der Eingabe „{name}“, Zeile {line}. Strg+Klick bearbeitet ihn.</translation>
    </message>
    <message>
      <source>Values (*.json *.jsonl *.yaml *.yml *.csv *.tsv);;All files (*)</source>
      <translation>Werte (*.json *.jsonl *.yaml *.yml *.csv *.tsv);;Alle Dateien (*)</translation>
    </message>
    <message>
      <source>Values for the inputs of the prompt. Until you set them, samples from the file are shown.</source>
      <translation>Werte für das, wonach der Prompt fragt. Bis dahin stehen Beispiele der Datei dafür.</translation>
    </message>
    <message>
      <source>Values of ${params:name}, which a run needs.</source>
      <translation>Wofür ${params:name} steht; ein Lauf braucht für jeden einen Wert.</translation>
    </message>
    <message>
      <source>Values: &lt;code&gt;{values}&lt;/code&gt;</source>
      <translation>Werte: &lt;code&gt;{values}&lt;/code&gt;</translation>
    </message>
    <message>
      <source>Variables</source>
      <translation>Variablen</translation>
    </message>
    <message>
      <source>Variables or breakpoints</source>
      <translation>Variablen oder Haltepunkte</translation>
    </message>
    <message>
      <source>Variables or headers</source>
      <translation>Variablen oder Kopfzeilen</translation>
    </message>
    <message>
      <source>Variant</source>
      <translation>Variante</translation>
    </message>
    <message>
      <source>Version</source>
      <translation>Version</translation>
    </message>
    <message>
      <source>Views of the preview</source>
      <translation>Ansichten der Vorschau</translation>
    </message>
    <message>
      <source>Views of the tool</source>
      <translation>Ansichten des Werkzeugs</translation>
    </message>
    <message>
      <source>Waiting for the model…</source>
      <translation>Wartet auf das Modell …</translation>
    </message>
    <message>
      <source>Waiting for you</source>
      <translation>Wartet auf Sie</translation>
    </message>
    <message>
      <source>Waiting for your approval</source>
      <translation>Wartet auf Ihre Zustimmung</translation>
    </message>
    <message>
      <source>Watch</source>
      <translation>Beobachten</translation>
    </message>
    <message>
      <source>Watch it think</source>
      <translation>Sehen Sie ihm beim Denken zu</translation>
    </message>
    <message>
      <source>Welcome</source>
      <translation>Willkommen</translation>
    </message>
    <message>
      <source>Welcome page</source>
      <translation>Startseite</translation>
    </message>
    <message>
      <source>What a tool answered</source>
      <translation>Was ein Werkzeug antwortete</translation>
    </message>
    <message>
      <source>What a tool answered (section dialect)</source>
      <translation>Was ein Werkzeug antwortete (Abschnitts-Dialekt)</translation>
    </message>
    <message>
      <source>What changes in the text of the prompt:</source>
      <translation>Was sich im Text des Prompts ändert:</translation>
    </message>
    <message>
      <source>What happens when the tool is called</source>
      <translation>Was geschieht, wenn das Werkzeug aufgerufen wird</translation>
    </message>
    <message>
      <source>What is changed or lost</source>
      <translation>Was nicht mitkommt</translation>
    </message>
    <message>
      <source>What is loaded when</source>
      <translation>Was wann geladen wird</translation>
    </message>
    <message>
      <source>What it answered</source>
      <translation>Was es antwortete</translation>
    </message>
    <message>
      <source>What it covers</source>
      <translation>Was es umfasst</translation>
    </message>
    <message>
      <source>What it does</source>
      <translation>Was es tut</translation>
    </message>
    <message>
      <source>What it is</source>
      <translation>Was es ist</translation>
    </message>
    <message>
      <source>What the agent is asked</source>
      <translation>Was der Agent gefragt wird</translation>
    </message>
    <message>
      <source>What the model said</source>
      <translation>Was das Modell sagte</translation>
    </message>
    <message>
      <source>What the prompt is given</source>
      <translation>Was dem Prompt gegeben wird</translation>
    </message>
    <message>
      <source>What the user says</source>
      <translation>Was die Person sagt</translation>
    </message>
    <message>
      <source>What to do at this pause</source>
      <translation>Was an dieser Pause zu tun ist</translation>
    </message>
    <message>
      <source>What will be written</source>
      <translation>Was geschrieben wird</translation>
    </message>
    <message>
      <source>What you typed is safe: unsaved text is saved on disk as you type, and is restored if the studio crashes. Saved files were not changed. Runs are in History up to their last step. You can continue working.</source>
      <translation>Was Sie getippt haben, ist sicher: nicht gespeicherter Text wird beim Tippen auf der Platte gehalten und wieder angeboten, falls das Studio endet. Gespeicherte Dateien wurden nicht angerührt. Läufe stehen bis zum letzten Schritt im Verlauf. Sie können weiterarbeiten.</translation>
    </message>
    <message>
      <source>When</source>
      <translation>Wenn</translation>
    </message>
    <message>
      <source>When the tool was last called, and how often</source>
      <translation>Wann das Werkzeug zuletzt aufgerufen wurde, und wie oft</translation>
    </message>
    <message>
      <source>When you are asked before a call</source>
      <translation>Wann Sie vor einem Aufruf gefragt werden</translation>
    </message>
    <message>
      <source>Where</source>
      <translation>Wo</translation>
    </message>
    <message>
      <source>Where the prompt declares the tool</source>
      <translation>Wo der Prompt das Werkzeug deklariert</translation>
    </message>
    <message>
      <source>Where the tool is from</source>
      <translation>Woher das Werkzeug ist</translation>
    </message>
    <message>
      <source>Where the tools come from: files, servers</source>
      <translation>Woher die Werkzeuge kommen: Dateien, Server</translation>
    </message>
    <message>
      <source>Whether a call has side effects</source>
      <translation>Ob ein Aufruf etwas außerhalb ändert</translation>
    </message>
    <message>
      <source>Whether a value is another than in the last turn: loop.changed(item.day).</source>
      <translation>Ob ein Wert ein anderer ist als in der letzten Runde: loop.changed(item.day).</translation>
    </message>
    <message>
      <source>Whether it is the first item.</source>
      <translation>Ob es der erste Eintrag ist.</translation>
    </message>
    <message>
      <source>Whether it is the last item.</source>
      <translation>Ob es der letzte Eintrag ist.</translation>
    </message>
    <message>
      <source>Whether it must be given</source>
      <translation>Ob es angegeben werden muss</translation>
    </message>
    <message>
      <source>Which model continues?</source>
      <translation>Welches Modell macht weiter?</translation>
    </message>
    <message>
      <source>Which model should be used?</source>
      <translation>Welches Modell soll antworten?</translation>
    </message>
    <message>
      <source>Which model, and how it samples</source>
      <translation>Welches Modell, und wie es wählt</translation>
    </message>
    <message>
      <source>Which of two answers is better? The variants are named at the end.</source>
      <translation>Welche von zwei Antworten ist besser? Die Varianten werden am Ende genannt.</translation>
    </message>
    <message>
      <source>Which prompt of the file</source>
      <translation>Welcher Prompt der Datei</translation>
    </message>
    <message>
      <source>Which tool</source>
      <translation>Welches Werkzeug</translation>
    </message>
    <message>
      <source>Which tools are listed</source>
      <translation>Welche Werkzeuge aufgelistet sind</translation>
    </message>
    <message>
      <source>Whitespace</source>
      <translation>Leerzeichen</translation>
    </message>
    <message>
      <source>Who answers the calls</source>
      <translation>Was die Aufrufe beantwortet</translation>
    </message>
    <message>
      <source>Who speaks is named</source>
      <translation>Wer spricht, wird genannt</translation>
    </message>
    <message>
      <source>Whole answer</source>
      <translation>Ganze Antwort</translation>
    </message>
    <message>
      <source>Whole words (Alt+W)</source>
      <translation>Ganze Wörter (Alt+W)</translation>
    </message>
    <message>
      <source>Why</source>
      <translation>Warum</translation>
    </message>
    <message>
      <source>Wish</source>
      <translation>Wunsch</translation>
    </message>
    <message>
      <source>With Capital Initials</source>
      <translation>Mit großen Anfangsbuchstaben</translation>
    </message>
    <message>
      <source>With HTML's special characters replaced</source>
      <translation>Mit ersetzten Sonderzeichen von HTML</translation>
    </message>
    <message>
      <source>With a tool's result</source>
      <translation>Beim Ergebnis eines Werkzeugs</translation>
    </message>
    <message>
      <source>With effects</source>
      <translation>Mit Wirkungen</translation>
    </message>
    <message>
      <source>With its end</source>
      <translation>Mit seinem Ende</translation>
    </message>
    <message>
      <source>With the answer</source>
      <translation>Beim Ergebnis</translation>
    </message>
    <message>
      <source>With the reply</source>
      <translation>Bei der Antwort</translation>
    </message>
    <message>
      <source>With what, as an object</source>
      <translation>Womit, als Objekt</translation>
    </message>
    <message>
      <source>Without HTML tags</source>
      <translation>Ohne HTML-Tags</translation>
    </message>
    <message>
      <source>Without a value, its place stays empty.</source>
      <translation>Ohne Wert bleibt seine Stelle leer.</translation>
    </message>
    <message>
      <source>Without an answer</source>
      <translation>Ohne Antwort</translation>
    </message>
    <message>
      <source>Without blanks at the ends</source>
      <translation>Ohne Leerraum an den Enden</translation>
    </message>
    <message>
      <source>Word wrap</source>
      <translation>Zeilenumbruch</translation>
    </message>
    <message>
      <source>Words that the spelling check accepts, separated by spaces.</source>
      <translation>Wörter, die die Rechtschreibprüfung als richtig nimmt, mit Leerzeichen dazwischen.</translation>
    </message>
    <message>
      <source>Words, or an expression such as: tokens &gt; 1000 and status == "done"
</source>
      <translation>Wörter, oder ein Ausdruck wie: tokens &gt; 1000 and status == "done"
</translation>
    </message>
    <message>
      <source>Workers</source>
      <translation>Arbeitsprozesse</translation>
    </message>
    <message>
      <source>Workers need Dask: pip install 'prompt-studio[dask]'.</source>
      <translation>Worker brauchen Dask: pip install 'prompt-studio[dask]'.</translation>
    </message>
    <message>
      <source>Workers…</source>
      <translation>Arbeitsprozesse …</translation>
    </message>
    <message>
      <source>Working time</source>
      <translation>Arbeitszeit</translation>
    </message>
    <message>
      <source>Wrap long lines</source>
      <translation>Lange Zeilen umbrechen</translation>
    </message>
    <message>
      <source>Write a name, or folders and a name: drafts/first.prompty.</source>
      <translation>Einen Namen schreiben, oder Ordner und einen Namen: entwuerfe/erster.prompty.</translation>
    </message>
    <message>
      <source>Write a number, such as 0.5.</source>
      <translation>Schreiben Sie eine Zahl, etwa 0.5.</translation>
    </message>
    <message>
      <source>Write a whole number, such as 42.</source>
      <translation>Schreiben Sie eine ganze Zahl, etwa 42.</translation>
    </message>
    <message>
      <source>Write an object: {"name": value}.</source>
      <translation>Schreiben Sie ein Objekt: {"name": Wert}.</translation>
    </message>
    <message>
      <source>Write each header as `Name: value`, not as {value!r}.</source>
      <translation>Schreiben Sie jede Kopfzeile als `Name: Wert`, nicht als {value!r}.</translation>
    </message>
    <message>
      <source>Write how many iterations there may be.</source>
      <translation>Schreiben Sie, wie viele Durchgänge es geben darf.</translation>
    </message>
    <message>
      <source>Write into</source>
      <translation>Schreiben in</translation>
    </message>
    <message>
      <source>Write into the prompt</source>
      <translation>In den Prompt schreiben</translation>
    </message>
    <message>
      <source>Write it although one item is lost or changed</source>
      <translation>Schreiben, obwohl eines verloren geht oder sich ändert</translation>
    </message>
    <message>
      <source>Write it although {count} items are lost or changed</source>
      <translation>Schreiben, obwohl {count} Dinge verloren gehen oder sich ändern</translation>
    </message>
    <message>
      <source>Write it despite: {message}</source>
      <translation>Trotzdem schreiben: {message}</translation>
    </message>
    <message>
      <source>Write prompts and agents as files. See what the model gets. Step through the run.</source>
      <translation>Prompts und Agenten als Dateien schreiben. Sehen, was das Modell bekommt. Den Lauf in Schritten verfolgen.</translation>
    </message>
    <message>
      <source>Write the full address, such as https://host/v1 or http://localhost:8000/v1.</source>
      <translation>Schreiben Sie die ganze Adresse, etwa https://host/v1 oder http://localhost:8000/v1.</translation>
    </message>
    <message>
      <source>Write the model's reply</source>
      <translation>Anstelle des Modells antworten</translation>
    </message>
    <message>
      <source>Write the prompt, and its input sets beside it, and open it</source>
      <translation>Den Prompt und daneben seine Eingabesätze schreiben und ihn öffnen</translation>
    </message>
    <message>
      <source>Write the reply yourself; it is marked as edited.</source>
      <translation>Schreiben Sie die Antwort selbst; sie wird als bearbeitet gekennzeichnet.</translation>
    </message>
    <message>
      <source>Written in line {line}: click to go there.</source>
      <translation>In Zeile {line} geschrieben: klicken, um dorthin zu gehen.</translation>
    </message>
    <message>
      <source>Written into {file}: {names}</source>
      <translation>In {file} geschrieben: {names}</translation>
    </message>
    <message>
      <source>Yes</source>
      <translation>Ja</translation>
    </message>
    <message>
      <source>Yes (known)</source>
      <translation>Ja (wie bekannt)</translation>
    </message>
    <message>
      <source>You are asked first</source>
      <translation>Sie werden zuerst gefragt</translation>
    </message>
    <message>
      <source>You are asked once before cases that cost more than this are run.</source>
      <translation>Bevor Fälle laufen, die mehr als das kosten, wird einmal gefragt.</translation>
    </message>
    <message>
      <source>You are the model</source>
      <translation>Sie sind das Modell</translation>
    </message>
    <message>
      <source>You cut off the reply; nothing was done yet.</source>
      <translation>Sie haben die Antwort abgebrochen; noch wurde nichts getan.</translation>
    </message>
    <message>
      <source>You know its result.</source>
      <translation>Sie wissen, was es antwortete.</translation>
    </message>
    <message>
      <source>Your answer</source>
      <translation>Ihre Antwort</translation>
    </message>
    <message>
      <source>Your edits and decisions</source>
      <translation>Eigene Änderungen und Entscheidungen</translation>
    </message>
    <message>
      <source>Your mark</source>
      <translation>Ihre Bewertung</translation>
    </message>
    <message>
      <source>Your message</source>
      <translation>Ihre Nachricht</translation>
    </message>
    <message>
      <source>Your own MCP servers…</source>
      <translation>Ihre eigenen MCP-Server …</translation>
    </message>
    <message>
      <source>Your own servers</source>
      <translation>Ihre eigenen Server</translation>
    </message>
    <message>
      <source>Your text has been restored.</source>
      <translation>Der getippte Text ist noch da.</translation>
    </message>
    <message>
      <source>Your text is safe. Please report this with the file: {name}.</source>
      <translation>Ihr Text ist sicher. Bitte melden Sie dies mit der Datei: {name}.</translation>
    </message>
    <message>
      <source>`echo` cannot create cases.</source>
      <translation>`echo` kann keine Fälle anlegen.</translation>
    </message>
    <message>
      <source>`echo` is not a judge.</source>
      <translation>`echo` ist kein Bewerter.</translation>
    </message>
    <message>
      <source>`echo` proposes nothing.</source>
      <translation>`echo` schlägt nichts vor.</translation>
    </message>
    <message>
      <source>`echo` returns the prompt itself; no model is used.</source>
      <translation>`echo` antwortet mit dem Prompt selbst; kein Modell wird gefragt.</translation>
    </message>
    <message>
      <source>a bracket that ends a marker</source>
      <translation>eine Klammer, die eine Rollenzeile beendet</translation>
    </message>
    <message>
      <source>a message</source>
      <translation>eine Nachricht</translation>
    </message>
    <message>
      <source>a picture</source>
      <translation>ein Bild</translation>
    </message>
    <message>
      <source>a prompt</source>
      <translation>einem Prompt</translation>
    </message>
    <message>
      <source>a quote that ends an attribute</source>
      <translation>ein Anführungszeichen, das ein Attribut beendet</translation>
    </message>
    <message>
      <source>a refusal</source>
      <translation>eine Ablehnung</translation>
    </message>
    <message>
      <source>a role marker</source>
      <translation>eine Rollenzeile</translation>
    </message>
    <message>
      <source>a role marker with attributes</source>
      <translation>eine Rollenzeile mit Attributen</translation>
    </message>
    <message>
      <source>a schema for the answer</source>
      <translation>ein Schema für die Antwort</translation>
    </message>
    <message>
      <source>a thread</source>
      <translation>ein Gesprächsverlauf</translation>
    </message>
    <message>
      <source>a tool call in YAML</source>
      <translation>ein Werkzeugaufruf in YAML</translation>
    </message>
    <message>
      <source>a tools block</source>
      <translation>ein Werkzeugblock</translation>
    </message>
    <message>
      <source>all are kept</source>
      <translation>alle bleiben</translation>
    </message>
    <message>
      <source>allowed</source>
      <translation>erlaubt</translation>
    </message>
    <message>
      <source>always</source>
      <translation>immer</translation>
    </message>
    <message>
      <source>always ask</source>
      <translation>immer fragen</translation>
    </message>
    <message>
      <source>always, for files in its folder</source>
      <translation>immer, für Dateien in seinem Ordner</translation>
    </message>
    <message>
      <source>an error ({replace})</source>
      <translation>ein Fehler ({replace})</translation>
    </message>
    <message>
      <source>and {count} more</source>
      <translation>und {count} weitere</translation>
    </message>
    <message>
      <source>another prompt is open.</source>
      <translation>ein anderer Prompt ist offen.</translation>
    </message>
    <message>
      <source>answer</source>
      <translation>Ergebnis</translation>
    </message>
    <message>
      <source>answered</source>
      <translation>beantwortet</translation>
    </message>
    <message>
      <source>answered by you</source>
      <translation>von Ihnen beantwortet</translation>
    </message>
    <message>
      <source>answered by you, not run</source>
      <translation>von Ihnen beantwortet, nicht gelaufen</translation>
    </message>
    <message>
      <source>any</source>
      <translation>jede</translation>
    </message>
    <message>
      <source>approved</source>
      <translation>erlaubt</translation>
    </message>
    <message>
      <source>approved by you</source>
      <translation>von Ihnen erlaubt</translation>
    </message>
    <message>
      <source>approved, about to run</source>
      <translation>erlaubt, läuft gleich</translation>
    </message>
    <message>
      <source>arguments</source>
      <translation>Argumente</translation>
    </message>
    <message>
      <source>array of {type_name}</source>
      <translation>Liste von {type_name}</translation>
    </message>
    <message>
      <source>as it is</source>
      <translation>wie er ist</translation>
    </message>
    <message>
      <source>ask once</source>
      <translation>einmal fragen</translation>
    </message>
    <message>
      <source>at a network address; not loaded</source>
      <translation>an einer Netzadresse; nicht geholt</translation>
    </message>
    <message>
      <source>at the end of the iteration</source>
      <translation>am Ende des Durchgangs</translation>
    </message>
    <message>
      <source>bad arguments</source>
      <translation>falsche Argumente</translation>
    </message>
    <message>
      <source>before the request is sent</source>
      <translation>bevor die Anfrage gesendet wird</translation>
    </message>
    <message>
      <source>before the tool runs</source>
      <translation>bevor das Werkzeug läuft</translation>
    </message>
    <message>
      <source>blocked by the content filter</source>
      <translation>vom Inhaltsfilter zurückgehalten</translation>
    </message>
    <message>
      <source>body</source>
      <translation>Text</translation>
    </message>
    <message>
      <source>breakpoint</source>
      <translation>Haltepunkt</translation>
    </message>
    <message>
      <source>broke off</source>
      <translation>brach ab</translation>
    </message>
    <message>
      <source>built in, for first tries</source>
      <translation>eingebaut, zum Ausprobieren</translation>
    </message>
    <message>
      <source>ca.pem, cert.pem, key.pem</source>
      <translation>ca.pem, cert.pem, key.pem</translation>
    </message>
    <message>
      <source>call</source>
      <translation>Aufruf</translation>
    </message>
    <message>
      <source>call {row} of {count}</source>
      <translation>Aufruf {row} von {count}</translation>
    </message>
    <message>
      <source>called</source>
      <translation>aufgerufen</translation>
    </message>
    <message>
      <source>cancelled</source>
      <translation>abgebrochen</translation>
    </message>
    <message>
      <source>changed</source>
      <translation>geändert</translation>
    </message>
    <message>
      <source>changed: {count}</source>
      <translation>nicht wie zuvor: {count}</translation>
    </message>
    <message>
      <source>commit {name}</source>
      <translation>Commit {name}</translation>
    </message>
    <message>
      <source>config.{name}: it must be a list of tools, each with its schema.</source>
      <translation>config.{name}: Es muss eine Liste von Werkzeugen sein, jedes mit seinem Schema.</translation>
    </message>
    <message>
      <source>config.{name}: templates are not rendered here; write the value itself.</source>
      <translation>config.{name}: Vorlagen werden hier nicht ausgefüllt; schreiben Sie den Wert selbst.</translation>
    </message>
    <message>
      <source>config.{name}: {path} is a program, which is not run here; save its JSON.</source>
      <translation>config.{name}: {path} ist ein Programm, das hier nicht ausgeführt wird; speichern Sie sein JSON.</translation>
    </message>
    <message>
      <source>config: {why} Remove it here.</source>
      <translation>config: {why} Entfernen Sie es hier.</translation>
    </message>
    <message>
      <source>cost not known</source>
      <translation>Kosten nicht bekannt</translation>
    </message>
    <message>
      <source>could not be decided</source>
      <translation>konnte nicht entschieden werden</translation>
    </message>
    <message>
      <source>counted exactly</source>
      <translation>genau gezählt</translation>
    </message>
    <message>
      <source>crashed</source>
      <translation>abgestürzt</translation>
    </message>
    <message>
      <source>current {name}</source>
      <translation>{name}, wie es jetzt ist</translation>
    </message>
    <message>
      <source>cut</source>
      <translation>abgebrochen</translation>
    </message>
    <message>
      <source>cut by the studio at an invented observation</source>
      <translation>vom Studio bei einer erfundenen Beobachtung abgeschnitten</translation>
    </message>
    <message>
      <source>cut by you</source>
      <translation>von Ihnen abgeschnitten</translation>
    </message>
    <message>
      <source>cut off at the token limit</source>
      <translation>an der Token-Grenze abgeschnitten</translation>
    </message>
    <message>
      <source>cut off by you</source>
      <translation>von Ihnen abgebrochen</translation>
    </message>
    <message>
      <source>data too large to show</source>
      <translation>Daten zu groß zum Zeigen</translation>
    </message>
    <message>
      <source>declared</source>
      <translation>deklariert</translation>
    </message>
    <message>
      <source>default</source>
      <translation>Standard</translation>
    </message>
    <message>
      <source>default {value}</source>
      <translation>Vorgabe {value}</translation>
    </message>
    <message>
      <source>default: the folder of its file</source>
      <translation>Vorgabe: der Ordner der Datei</translation>
    </message>
    <message>
      <source>default: the program's own; or an address such as http://127.0.0.1:8080/v1</source>
      <translation>Vorgabe: die des Programms selbst; oder eine Adresse wie http://127.0.0.1:8080/v1</translation>
    </message>
    <message>
      <source>different</source>
      <translation>verschieden</translation>
    </message>
    <message>
      <source>divisibleby(3)</source>
      <translation>divisibleby(3)</translation>
    </message>
    <message>
      <source>does not respond</source>
      <translation>antwortet nicht</translation>
    </message>
    <message>
      <source>does not work</source>
      <translation>geht nicht</translation>
    </message>
    <message>
      <source>dollars</source>
      <translation>Dollar</translation>
    </message>
    <message>
      <source>done</source>
      <translation>fertig</translation>
    </message>
    <message>
      <source>dropped</source>
      <translation>verworfen</translation>
    </message>
    <message>
      <source>each item of {source}</source>
      <translation>jedes von {source}</translation>
    </message>
    <message>
      <source>earlier text</source>
      <translation>früherer Text</translation>
    </message>
    <message>
      <source>edited</source>
      <translation>bearbeitet</translation>
    </message>
    <message>
      <source>edited by you</source>
      <translation>von Ihnen bearbeitet</translation>
    </message>
    <message>
      <source>ended normally</source>
      <translation>endete von selbst</translation>
    </message>
    <message>
      <source>ended normally, or at a stop sequence</source>
      <translation>endete von selbst oder an einer Stoppfolge</translation>
    </message>
    <message>
      <source>ended with tool calls</source>
      <translation>endete mit Werkzeugaufrufen</translation>
    </message>
    <message>
      <source>equalto(value)</source>
      <translation>equalto(value)</translation>
    </message>
    <message>
      <source>estimated</source>
      <translation>geschätzt</translation>
    </message>
    <message>
      <source>every time; 3, &gt;=3, %2</source>
      <translation>jedes Mal; 3, &gt;=3, %2</translation>
    </message>
    <message>
      <source>fail</source>
      <translation>nicht bestanden</translation>
    </message>
    <message>
      <source>failed</source>
      <translation>fehlgeschlagen</translation>
    </message>
    <message>
      <source>filled by the run</source>
      <translation>füllt der Lauf</translation>
    </message>
    <message>
      <source>first word after {time}</source>
      <translation>erstes Wort nach {time}</translation>
    </message>
    <message>
      <source>first word {time}</source>
      <translation>erstes Wort {time}</translation>
    </message>
    <message>
      <source>fits</source>
      <translation>passt</translation>
    </message>
    <message>
      <source>fits {count} of {all} outputs</source>
      <translation>passt zu {count} von {all} Ausgaben</translation>
    </message>
    <message>
      <source>for an older text</source>
      <translation>für einen älteren Text</translation>
    </message>
    <message>
      <source>for item in list %}…{% endfor</source>
      <translation>for item in list %}…{% endfor</translation>
    </message>
    <message>
      <source>for other inputs</source>
      <translation>für andere Eingaben</translation>
    </message>
    <message>
      <source>for the next request</source>
      <translation>für die nächste Anfrage</translation>
    </message>
    <message>
      <source>forked</source>
      <translation>abgezweigt</translation>
    </message>
    <message>
      <source>free</source>
      <translation>kostenlos</translation>
    </message>
    <message>
      <source>free, local</source>
      <translation>kostenlos, lokal</translation>
    </message>
    <message>
      <source>from iteration {iteration}, {place}</source>
      <translation>ab Durchgang {iteration}, {place}</translation>
    </message>
    <message>
      <source>from its package or host</source>
      <translation>aus Paket oder Host gebildet</translation>
    </message>
    <message>
      <source>from the thread</source>
      <translation>aus dem Gespräch</translation>
    </message>
    <message>
      <source>from {amount} per 1,000</source>
      <translation>ab {amount} je 1.000</translation>
    </message>
    <message>
      <source>from {minimum:g}</source>
      <translation>ab {minimum:g}</translation>
    </message>
    <message>
      <source>from {source}</source>
      <translation>aus {source}</translation>
    </message>
    <message>
      <source>front matter</source>
      <translation>Kopfdaten</translation>
    </message>
    <message>
      <source>gates: {gates} compare with {name!r}, which is the only variant that is asked: add another one, or name git:REVISION or an earlier result under `baseline`.</source>
      <translation>gates: {gates} vergleichen mit {name!r}, der einzigen Variante, die gefragt wird: fügen Sie eine hinzu, oder nennen Sie git:REVISION oder ein früheres Ergebnis unter `baseline`.</translation>
    </message>
    <message>
      <source>gates: {gates} need a baseline: name a variant, git:REVISION or an earlier result under `baseline`.</source>
      <translation>gates: {gates} brauchen eine Vergleichsbasis: Nennen Sie unter `baseline` eine Variante, git:REVISION oder ein früheres Ergebnis.</translation>
    </message>
    <message>
      <source>groupby('key')</source>
      <translation>groupby('key')</translation>
    </message>
    <message>
      <source>has effects</source>
      <translation>hat Wirkungen</translation>
    </message>
    <message>
      <source>hit count {hits}</source>
      <translation>Trefferzahl {hits}</translation>
    </message>
    <message>
      <source>if … %}…{% endif</source>
      <translation>if … %}…{% endif</translation>
    </message>
    <message>
      <source>ignored</source>
      <translation>übergangen</translation>
    </message>
    <message>
      <source>in the list of agents</source>
      <translation>in der Liste der Agenten</translation>
    </message>
    <message>
      <source>in the list of commands</source>
      <translation>in der Liste der Befehle</translation>
    </message>
    <message>
      <source>in the system's key store</source>
      <translation>im Schlüsselspeicher des Systems</translation>
    </message>
    <message>
      <source>in use</source>
      <translation>in Gebrauch</translation>
    </message>
    <message>
      <source>in(list)</source>
      <translation>in(list)</translation>
    </message>
    <message>
      <source>incomplete</source>
      <translation>unvollständig</translation>
    </message>
    <message>
      <source>index, first, last, length</source>
      <translation>index, first, last, length</translation>
    </message>
    <message>
      <source>inserted by the loop</source>
      <translation>von der Schleife eingefügt</translation>
    </message>
    <message>
      <source>interrupted</source>
      <translation>unterbrochen</translation>
    </message>
    <message>
      <source>interrupted: it is unknown whether it ran</source>
      <translation>unterbrochen: niemand weiß, ob es lief</translation>
    </message>
    <message>
      <source>invalid</source>
      <translation>ungültig</translation>
    </message>
    <message>
      <source>is waiting for your approval</source>
      <translation>wartet auf Ihre Zustimmung</translation>
    </message>
    <message>
      <source>it contains no provider</source>
      <translation>sie enthält keinen Anbieter</translation>
    </message>
    <message>
      <source>it does not say why</source>
      <translation>es wird kein Grund genannt</translation>
    </message>
    <message>
      <source>it ended as {now}, not as {before}</source>
      <translation>er endete als {now}, nicht als {before}</translation>
    </message>
    <message>
      <source>it has no value for any input</source>
      <translation>sie hat keine der Eingaben</translation>
    </message>
    <message>
      <source>it is being edited. Try again.</source>
      <translation>darin wird gerade geschrieben. Versuchen Sie es noch einmal.</translation>
    </message>
    <message>
      <source>it is not allowed. Add a connection with this address.</source>
      <translation>Das ist nicht erlaubt. Legen Sie eine Verbindung mit dieser Adresse an.</translation>
    </message>
    <message>
      <source>item {number} of {name}</source>
      <translation>Eintrag {number} von {name}</translation>
    </message>
    <message>
      <source>iteration &gt; 2 and args.city == "Rome"</source>
      <translation>iteration &gt; 2 and args.city == "Rome"</translation>
    </message>
    <message>
      <source>iteration {number}</source>
      <translation>Durchgang {number}</translation>
    </message>
    <message>
      <source>iteration {number} of {most}</source>
      <translation>Durchgang {number} von {most}</translation>
    </message>
    <message>
      <source>its server</source>
      <translation>sein Server</translation>
    </message>
    <message>
      <source>its service</source>
      <translation>sein Dienst</translation>
    </message>
    <message>
      <source>just now</source>
      <translation>gerade eben</translation>
    </message>
    <message>
      <source>keys shortcuts bindings</source>
      <translation>Tasten Tastenkürzel Kürzel Belegung</translation>
    </message>
    <message>
      <source>left only</source>
      <translation>nur links</translation>
    </message>
    <message>
      <source>limit reached</source>
      <translation>Grenze erreicht</translation>
    </message>
    <message>
      <source>line {line}</source>
      <translation>Zeile {line}</translation>
    </message>
    <message>
      <source>line {number}</source>
      <translation>Zeile {number}</translation>
    </message>
    <message>
      <source>live</source>
      <translation>live</translation>
    </message>
    <message>
      <source>llama.cpp server</source>
      <translation>Server von llama.cpp</translation>
    </message>
    <message>
      <source>local:4 starts four processes on this machine; tls://host:8786 is your own scheduler (prompt-studio cluster certificates creates its certificates). Secrets are never sent to workers. While the experiment runs, it shows a link to the scheduler's page.</source>
      <translation>local:4 startet vier Prozesse dieses Rechners; tls://host:8786 ist ein eigener Scheduler (prompt-studio cluster certificates macht, was er braucht). Geheimnisse gehen nie an Arbeitsprozesse. Die Seite des Schedulers steht beim Experiment, sobald es läuft.</translation>
    </message>
    <message>
      <source>logs “{log}”, does not stop</source>
      <translation>notiert „{log}“, hält nicht an</translation>
    </message>
    <message>
      <source>lost</source>
      <translation>verloren</translation>
    </message>
    <message>
      <source>macro name(arguments)</source>
      <translation>macro name(arguments)</translation>
    </message>
    <message>
      <source>made by the studio</source>
      <translation>vom Studio gemacht</translation>
    </message>
    <message>
      <source>map(attribute='name')</source>
      <translation>map(attribute='name')</translation>
    </message>
    <message>
      <source>matches {pattern}</source>
      <translation>passt zu {pattern}</translation>
    </message>
    <message>
      <source>missing</source>
      <translation>fehlt</translation>
    </message>
    <message>
      <source>mocked</source>
      <translation>mit Ersatz</translation>
    </message>
    <message>
      <source>model changed</source>
      <translation>Modell gewechselt</translation>
    </message>
    <message>
      <source>model changed by you</source>
      <translation>Modell von Ihnen gewechselt</translation>
    </message>
    <message>
      <source>model kept</source>
      <translation>Modell behalten</translation>
    </message>
    <message>
      <source>model kept by you</source>
      <translation>Modell von Ihnen behalten</translation>
    </message>
    <message>
      <source>name and description</source>
      <translation>Name und Beschreibung</translation>
    </message>
    <message>
      <source>names, keys, limits</source>
      <translation>Namen, Schlüssel, Grenzen</translation>
    </message>
    <message>
      <source>needs you</source>
      <translation>braucht Sie</translation>
    </message>
    <message>
      <source>needs you: approval</source>
      <translation>braucht Sie: Freigabe</translation>
    </message>
    <message>
      <source>needs you: limit</source>
      <translation>braucht Sie: Grenze</translation>
    </message>
    <message>
      <source>needs you: outcome</source>
      <translation>braucht Sie: Ausgang</translation>
    </message>
    <message>
      <source>needs you: problem</source>
      <translation>braucht Sie: Problem</translation>
    </message>
    <message>
      <source>new</source>
      <translation>neu</translation>
    </message>
    <message>
      <source>new case</source>
      <translation>neuer Fall</translation>
    </message>
    <message>
      <source>next iteration</source>
      <translation>nächster Durchgang</translation>
    </message>
    <message>
      <source>no</source>
      <translation>nein</translation>
    </message>
    <message>
      <source>no address yet</source>
      <translation>noch keine Adresse</translation>
    </message>
    <message>
      <source>no answer</source>
      <translation>keine Antwort</translation>
    </message>
    <message>
      <source>no file yet</source>
      <translation>noch keine Datei</translation>
    </message>
    <message>
      <source>no key is stored for this connection</source>
      <translation>für diese Verbindung ist kein Schlüssel hinterlegt</translation>
    </message>
    <message>
      <source>no limit</source>
      <translation>keine Grenze</translation>
    </message>
    <message>
      <source>no marker</source>
      <translation>keine Marke</translation>
    </message>
    <message>
      <source>no prompt is open.</source>
      <translation>kein Prompt ist offen.</translation>
    </message>
    <message>
      <source>no script yet</source>
      <translation>noch kein Skript</translation>
    </message>
    <message>
      <source>no such tool</source>
      <translation>kein solches Werkzeug</translation>
    </message>
    <message>
      <source>none</source>
      <translation>keine</translation>
    </message>
    <message>
      <source>none needed</source>
      <translation>keiner nötig</translation>
    </message>
    <message>
      <source>none of these</source>
      <translation>nichts davon</translation>
    </message>
    <message>
      <source>none saved yet</source>
      <translation>noch keiner vorhanden</translation>
    </message>
    <message>
      <source>none; or one for each request: 429, 500, cut, delay=2, ok</source>
      <translation>keine; oder einer je Anfrage: 429, 500, cut, delay=2, ok</translation>
    </message>
    <message>
      <source>not bound</source>
      <translation>nicht gebunden</translation>
    </message>
    <message>
      <source>not checked</source>
      <translation>nicht geprüft</translation>
    </message>
    <message>
      <source>not declared</source>
      <translation>nicht deklariert</translation>
    </message>
    <message>
      <source>not known</source>
      <translation>nicht bekannt</translation>
    </message>
    <message>
      <source>not looked up: this folder is not trusted</source>
      <translation>nicht nachgesehen: diesem Ordner wird nicht vertraut</translation>
    </message>
    <message>
      <source>not planned</source>
      <translation>nicht geplant</translation>
    </message>
    <message>
      <source>not read: the prompt is not saved, or its folder is not trusted</source>
      <translation>nicht gelesen: Der Prompt ist nicht gespeichert, oder seinem Ordner wird nicht vertraut</translation>
    </message>
    <message>
      <source>not run</source>
      <translation>nicht ausgeführt</translation>
    </message>
    <message>
      <source>not set</source>
      <translation>nicht gesetzt</translation>
    </message>
    <message>
      <source>not set, and there is no default</source>
      <translation>nicht gesetzt, und es gibt keine Vorgabe</translation>
    </message>
    <message>
      <source>not set: {names}</source>
      <translation>nicht gesetzt: {names}</translation>
    </message>
    <message>
      <source>not set; the default is used</source>
      <translation>nicht gesetzt; die Vorgabe gilt</translation>
    </message>
    <message>
      <source>not started</source>
      <translation>nicht gestartet</translation>
    </message>
    <message>
      <source>not trusted</source>
      <translation>nicht vertraut</translation>
    </message>
    <message>
      <source>nothing is known</source>
      <translation>nichts bekannt</translation>
    </message>
    <message>
      <source>nothing new</source>
      <translation>nichts Neues</translation>
    </message>
    <message>
      <source>now</source>
      <translation>jetzt</translation>
    </message>
    <message>
      <source>nowhere</source>
      <translation>nirgends</translation>
    </message>
    <message>
      <source>of the models</source>
      <translation>der Modelle</translation>
    </message>
    <message>
      <source>of the recording of {program}, {time}</source>
      <translation>der Aufzeichnung von {program}, {time}</translation>
    </message>
    <message>
      <source>one of </source>
      <translation>eines von </translation>
    </message>
    <message>
      <source>optional</source>
      <translation>freiwillig</translation>
    </message>
    <message>
      <source>or type its address or key above</source>
      <translation>oder oben Adresse oder Schlüssel eingeben</translation>
    </message>
    <message>
      <source>outcome set by you</source>
      <translation>Ausgang von Ihnen angegeben</translation>
    </message>
    <message>
      <source>outside the prompt's folder; not read</source>
      <translation>außerhalb des Ordners des Prompts; nicht gelesen</translation>
    </message>
    <message>
      <source>pass</source>
      <translation>bestanden</translation>
    </message>
    <message>
      <source>pasted</source>
      <translation>eingefügt</translation>
    </message>
    <message>
      <source>pause; or a line to write: {tool} took {elapsed}</source>
      <translation>hält an; oder eine Zeile, die notiert wird: {tool} dauerte {elapsed}</translation>
    </message>
    <message>
      <source>pictures</source>
      <translation>Bilder</translation>
    </message>
    <message>
      <source>price unknown</source>
      <translation>Preis unbekannt</translation>
    </message>
    <message>
      <source>python my_agent.py; empty if the program is started elsewhere</source>
      <translation>python my_agent.py; leer, wenn das Programm anderswo gestartet wird</translation>
    </message>
    <message>
      <source>ran</source>
      <translation>gelaufen</translation>
    </message>
    <message>
      <source>read as </source>
      <translation>gelesen als </translation>
    </message>
    <message>
      <source>ready</source>
      <translation>bereit</translation>
    </message>
    <message>
      <source>reasoning</source>
      <translation>Überlegung</translation>
    </message>
    <message>
      <source>recorded</source>
      <translation>aufgezeichnet</translation>
    </message>
    <message>
      <source>refused</source>
      <translation>abgelehnt</translation>
    </message>
    <message>
      <source>regression, good example</source>
      <translation>Rückschritt, gutes Beispiel</translation>
    </message>
    <message>
      <source>rejected</source>
      <translation>abgelehnt</translation>
    </message>
    <message>
      <source>rejected by you</source>
      <translation>von Ihnen abgelehnt</translation>
    </message>
    <message>
      <source>rejected, not run</source>
      <translation>abgelehnt, nicht gelaufen</translation>
    </message>
    <message>
      <source>repaired</source>
      <translation>repariert</translation>
    </message>
    <message>
      <source>repeat {number} of {count}</source>
      <translation>Wiederholung {number} von {count}</translation>
    </message>
    <message>
      <source>replace('old', 'new')</source>
      <translation>replace('old', 'new')</translation>
    </message>
    <message>
      <source>replayed</source>
      <translation>wiederholt</translation>
    </message>
    <message>
      <source>replayed from the recording</source>
      <translation>aus der Aufzeichnung wiedergegeben</translation>
    </message>
    <message>
      <source>request {id}</source>
      <translation>Anfrage {id}</translation>
    </message>
    <message>
      <source>requested, not run yet</source>
      <translation>gewünscht, noch nicht gelaufen</translation>
    </message>
    <message>
      <source>required</source>
      <translation>nötig</translation>
    </message>
    <message>
      <source>reserved name</source>
      <translation>vorbehaltener Name</translation>
    </message>
    <message>
      <source>resource template</source>
      <translation>Ressourcenvorlage</translation>
    </message>
    <message>
      <source>result {number} {share}</source>
      <translation>Ergebnis {number} {share}</translation>
    </message>
    <message>
      <source>retried</source>
      <translation>neu versucht</translation>
    </message>
    <message>
      <source>reused</source>
      <translation>von früher übernommen</translation>
    </message>
    <message>
      <source>right only</source>
      <translation>nur rechts</translation>
    </message>
    <message>
      <source>round(2)</source>
      <translation>round(2)</translation>
    </message>
    <message>
      <source>rows called: {count}, failed: {failed}</source>
      <translation>Zeilen aufgerufen: {count}, fehlgeschlagen: {failed}</translation>
    </message>
    <message>
      <source>run {number} of {count}</source>
      <translation>Lauf {number} von {count}</translation>
    </message>
    <message>
      <source>running</source>
      <translation>läuft</translation>
    </message>
    <message>
      <source>running…</source>
      <translation>läuft …</translation>
    </message>
    <message>
      <source>runs.sqlite, swap files of unsaved text, trust.json, session.json, log.</source>
      <translation>runs.sqlite, Sicherungen nicht gespeicherten Textes, trust.json, session.json, log.</translation>
    </message>
    <message>
      <source>sample</source>
      <translation>Beispiel</translation>
    </message>
    <message>
      <source>saved on this machine</source>
      <translation>auf diesem Rechner aufgehoben</translation>
    </message>
    <message>
      <source>schema for its answer</source>
      <translation>Schema der Antwort</translation>
    </message>
    <message>
      <source>scored</source>
      <translation>bewertet</translation>
    </message>
    <message>
      <source>seconds</source>
      <translation>Sekunden</translation>
    </message>
    <message>
      <source>selectattr('key', 'equalto', value)</source>
      <translation>selectattr('key', 'equalto', value)</translation>
    </message>
    <message>
      <source>sent</source>
      <translation>gesendet</translation>
    </message>
    <message>
      <source>set in the environment; its value is not shown</source>
      <translation>in der Umgebung gesetzt; der Wert wird nicht gezeigt</translation>
    </message>
    <message>
      <source>set in the template</source>
      <translation>in der Vorlage gesetzt</translation>
    </message>
    <message>
      <source>set name = value</source>
      <translation>set name = value</translation>
    </message>
    <message>
      <source>settings.toml and connections.toml; text files that you can read and edit.</source>
      <translation>settings.toml und connections.toml; Textdateien, die Sie lesen und ändern können.</translation>
    </message>
    <message>
      <source>shortened; Copy copies the whole line</source>
      <translation>hier gekürzt; Kopieren nimmt die ganze Zeile</translation>
    </message>
    <message>
      <source>skipped</source>
      <translation>übersprungen</translation>
    </message>
    <message>
      <source>skipped by you</source>
      <translation>von Ihnen übersprungen</translation>
    </message>
    <message>
      <source>skipped, not run</source>
      <translation>übersprungen, nicht gelaufen</translation>
    </message>
    <message>
      <source>some of the run cannot be read</source>
      <translation>nicht der ganze Lauf ist lesbar</translation>
    </message>
    <message>
      <source>stop sequences</source>
      <translation>Stoppfolgen</translation>
    </message>
    <message>
      <source>stopped</source>
      <translation>gestoppt</translation>
    </message>
    <message>
      <source>stored with the run</source>
      <translation>beim Lauf gespeichert</translation>
    </message>
    <message>
      <source>supplied by the run</source>
      <translation>vom Lauf geliefert</translation>
    </message>
    <message>
      <source>template syntax</source>
      <translation>Vorlagensprache</translation>
    </message>
    <message>
      <source>template.format.strict is false: values may contain role markers.</source>
      <translation>template.format.strict ist false: Werte dürfen eigene Rollenmarken mitbringen.</translation>
    </message>
    <message>
      <source>text</source>
      <translation>Text</translation>
    </message>
    <message>
      <source>texts {proposals} of {most} · cells {calls} · tokens {tokens:,}</source>
      <translation>Texte {proposals} von {most} · Zellen {calls} · Tokens {tokens:,}</translation>
    </message>
    <message>
      <source>the connection {name!r} no longer exists</source>
      <translation>es gibt keine Verbindung {name!r} mehr</translation>
    </message>
    <message>
      <source>the data is not valid base64</source>
      <translation>die Daten sind kein gültiges base64</translation>
    </message>
    <message>
      <source>the default</source>
      <translation>die voreingestellte Verbindung</translation>
    </message>
    <message>
      <source>the file already has this content</source>
      <translation>dieselben Bytes liegen schon dort</translation>
    </message>
    <message>
      <source>the file does not exist in the prompt's folder</source>
      <translation>neben dem Prompt gibt es keine solche Datei</translation>
    </message>
    <message>
      <source>the file now has other content</source>
      <translation>dort liegen jetzt andere Bytes</translation>
    </message>
    <message>
      <source>the final answer</source>
      <translation>die endgültige Antwort</translation>
    </message>
    <message>
      <source>the first</source>
      <translation>der erste</translation>
    </message>
    <message>
      <source>the input {name!r} is declared as {kind}; {text!r} is not one</source>
      <translation>Die Eingabe {name!r} ist als {kind} deklariert; {text!r} ist keines</translation>
    </message>
    <message>
      <source>the key was not saved; enter it again</source>
      <translation>der Schlüssel wurde nicht behalten; geben Sie ihn noch einmal ein</translation>
    </message>
    <message>
      <source>the message to the model</source>
      <translation>die Nachricht an das Modell</translation>
    </message>
    <message>
      <source>the model</source>
      <translation>das Modell</translation>
    </message>
    <message>
      <source>the newest {keep:,} are kept</source>
      <translation>die neuesten {keep:,} bleiben</translation>
    </message>
    <message>
      <source>the open section</source>
      <translation>der offene Abschnitt</translation>
    </message>
    <message>
      <source>the prompt in the editor</source>
      <translation>der Prompt im Editor</translation>
    </message>
    <message>
      <source>the prompt names this endpoint</source>
      <translation>der Prompt nennt diesen Endpunkt</translation>
    </message>
    <message>
      <source>the prompt's declaration</source>
      <translation>der Deklaration des Prompts</translation>
    </message>
    <message>
      <source>the run has this model</source>
      <translation>der Lauf hat dieses Modell</translation>
    </message>
    <message>
      <source>the run is at this point</source>
      <translation>der Lauf ist hier</translation>
    </message>
    <message>
      <source>the run of “{prompt}”</source>
      <translation>den Lauf von „{prompt}“</translation>
    </message>
    <message>
      <source>the same</source>
      <translation>gleich</translation>
    </message>
    <message>
      <source>the saved file</source>
      <translation>der gesicherten Datei</translation>
    </message>
    <message>
      <source>the test is for other variants</source>
      <translation>der Test gilt für andere Varianten</translation>
    </message>
    <message>
      <source>the text has changed</source>
      <translation>der Text ist ein anderer</translation>
    </message>
    <message>
      <source>the text of {when}</source>
      <translation>dem Text vom {when}</translation>
    </message>
    <message>
      <source>there is no tokenizer for {name} here.</source>
      <translation>für {name} gibt es hier keinen Tokenizer.</translation>
    </message>
    <message>
      <source>this cannot be distinguished from chance.</source>
      <translation>das ist von Zufall nicht zu unterscheiden.</translation>
    </message>
    <message>
      <source>this file cannot be saved</source>
      <translation>diese Datei kann nicht gespeichert werden</translation>
    </message>
    <message>
      <source>thought</source>
      <translation>Gedanke</translation>
    </message>
    <message>
      <source>timed out</source>
      <translation>Zeit abgelaufen</translation>
    </message>
    <message>
      <source>tls:// needs --certificates FOLDER with ca.pem, cert.pem and key.pem; missing: {names}.</source>
      <translation>tls:// braucht --certificates ORDNER mit ca.pem, cert.pem und key.pem; es fehlt: {names}.</translation>
    </message>
    <message>
      <source>to iteration {iteration}, {place_names}</source>
      <translation>bis Durchgang {iteration}, {place_names}</translation>
    </message>
    <message>
      <source>today</source>
      <translation>heute</translation>
    </message>
    <message>
      <source>token</source>
      <translation>Token</translation>
    </message>
    <message>
      <source>tool</source>
      <translation>Werkzeug</translation>
    </message>
    <message>
      <source>tool_call: the section holds a call as YAML</source>
      <translation>tool_call: der Abschnitt enthält einen Aufruf als YAML</translation>
    </message>
    <message>
      <source>tools</source>
      <translation>Werkzeuge</translation>
    </message>
    <message>
      <source>trying …</source>
      <translation>wird versucht …</translation>
    </message>
    <message>
      <source>unchanged: {count}</source>
      <translation>wie zuvor: {count}</translation>
    </message>
    <message>
      <source>undecided</source>
      <translation>unentschieden</translation>
    </message>
    <message>
      <source>unknown</source>
      <translation>unbekannt</translation>
    </message>
    <message>
      <source>unlikely to be chance.</source>
      <translation>kaum Zufall.</translation>
    </message>
    <message>
      <source>up to {maximum:g}</source>
      <translation>bis {maximum:g}</translation>
    </message>
    <message>
      <source>vLLM</source>
      <translation>vLLM</translation>
    </message>
    <message>
      <source>waiting</source>
      <translation>wartend</translation>
    </message>
    <message>
      <source>waits</source>
      <translation>wartet</translation>
    </message>
    <message>
      <source>waits for your consent</source>
      <translation>wartet, bis Sie es erlauben</translation>
    </message>
    <message>
      <source>warned</source>
      <translation>Warnung</translation>
    </message>
    <message>
      <source>what the tool's process wrote on stderr</source>
      <translation>was der Prozess des Werkzeugs auf stderr schrieb</translation>
    </message>
    <message>
      <source>when it is called</source>
      <translation>wenn er gerufen wird</translation>
    </message>
    <message>
      <source>when it is read</source>
      <translation>wenn sie gelesen wird</translation>
    </message>
    <message>
      <source>when it is run</source>
      <translation>wenn er läuft</translation>
    </message>
    <message>
      <source>when the skill is used</source>
      <translation>wenn die Fähigkeit benutzt wird</translation>
    </message>
    <message>
      <source>with each request to this agent</source>
      <translation>mit jeder Anfrage an diesen Agenten</translation>
    </message>
    <message>
      <source>with the answer, before the run ends</source>
      <translation>mit der Antwort, bevor der Lauf endet</translation>
    </message>
    <message>
      <source>with the reply, before it is acted on</source>
      <translation>mit der Antwort, bevor nach ihr gehandelt wird</translation>
    </message>
    <message>
      <source>with the tool's result</source>
      <translation>mit dem Ergebnis des Werkzeugs</translation>
    </message>
    <message>
      <source>with this</source>
      <translation>hiermit</translation>
    </message>
    <message>
      <source>without an answer</source>
      <translation>ohne Antwort</translation>
    </message>
    <message>
      <source>without {names}</source>
      <translation>ohne {names}</translation>
    </message>
    <message>
      <source>without {names}: the server rejects it</source>
      <translation>ohne {names}: der Server nimmt es nicht an</translation>
    </message>
    <message>
      <source>won</source>
      <translation>gewonnen</translation>
    </message>
    <message>
      <source>works</source>
      <translation>geht</translation>
    </message>
    <message>
      <source>written by you</source>
      <translation>von Ihnen geschrieben</translation>
    </message>
    <message>
      <source>yes</source>
      <translation>ja</translation>
    </message>
    <message>
      <source>you write the replies</source>
      <translation>Sie antworten selbst</translation>
    </message>
    <message>
      <source>your message</source>
      <translation>Ihre Nachricht</translation>
    </message>
    <message>
      <source>{about} comes from {source}. Your corrections override it.</source>
      <translation>{about} stammt aus {source}. Ihre Korrekturen gehen vor.</translation>
    </message>
    <message>
      <source>{address!r} names no workers: write local:4, tls://host:8786 or tcp://127.0.0.1:8786.</source>
      <translation>{address!r} nennt keine Worker: schreiben Sie local:4, tls://host:8786 oder tcp://127.0.0.1:8786.</translation>
    </message>
    <message>
      <source>{address} is not encrypted: anyone who can access that scheduler can run programs on its workers. Use tls:// (prompt-studio cluster certificates creates its certificates), or --insecure in your own network.</source>
      <translation>{address} ist nicht verschlüsselt: wer diesen Scheduler erreicht, kann auf seinen Arbeitsprozessen Programme ausführen. Nehmen Sie tls:// (prompt-studio cluster certificates legt die Zertifikate an) oder im eigenen Netz --insecure.</translation>
    </message>
    <message>
      <source>{amount} per 1,000</source>
      <translation>{amount} je 1.000</translation>
    </message>
    <message>
      <source>{a} and {b} differ</source>
      <translation>{a} und {b} verschieden</translation>
    </message>
    <message>
      <source>{calls} cells run, {tokens:,} tokens, {cost}.</source>
      <translation>{calls} Zellen gefragt, {tokens:,} Tokens, {cost}.</translation>
    </message>
    <message>
      <source>{change} since the run</source>
      <translation>{change} seit dem Lauf</translation>
    </message>
    <message>
      <source>{change}, {amount} per 1,000 runs</source>
      <translation>{change}, {amount} je 1.000 Läufe</translation>
    </message>
    <message>
      <source>{connection} rejected the batch: {said}</source>
      <translation>{connection} hat den Batch nicht angenommen: {said}</translation>
    </message>
    <message>
      <source>{connection} returned no answer in the batch.</source>
      <translation>{connection} gab im Batch keine Antwort.</translation>
    </message>
    <message>
      <source>{connection}: a batch was sent ({id}); its requests: {count}.</source>
      <translation>{connection}: ein Batch wurde gesendet ({id}); seine Anfragen: {count}.</translation>
    </message>
    <message>
      <source>{connection}: {id} is over ({status}); without an answer: {count}.</source>
      <translation>{connection}: {id} ist beendet ({status}); ohne Antwort: {count}.</translation>
    </message>
    <message>
      <source>{cost} a cell, {share}</source>
      <translation>{cost} je Zelle, {share}</translation>
    </message>
    <message>
      <source>{cost} of about {whole}</source>
      <translation>{cost} von etwa {whole}</translation>
    </message>
    <message>
      <source>{count:+,} tokens</source>
      <translation>{count:+,} Token</translation>
    </message>
    <message>
      <source>{count:,} calls</source>
      <translation>{count:,} Aufrufe</translation>
    </message>
    <message>
      <source>{count:,} characters</source>
      <translation>{count:,} Zeichen</translation>
    </message>
    <message>
      <source>{count:,} done</source>
      <translation>{count:,} fertig</translation>
    </message>
    <message>
      <source>{count:,} iterations</source>
      <translation>{count:,} Durchgänge</translation>
    </message>
    <message>
      <source>{count:,} lines</source>
      <translation>{count:,} Zeilen</translation>
    </message>
    <message>
      <source>{count:,} messages</source>
      <translation>{count:,} Nachrichten</translation>
    </message>
    <message>
      <source>{count:,} more characters</source>
      <translation>{count:,} weitere Zeichen</translation>
    </message>
    <message>
      <source>{count:,} rows</source>
      <translation>{count:,} Zeilen</translation>
    </message>
    <message>
      <source>{count:,} runs</source>
      <translation>{count:,} Läufe</translation>
    </message>
    <message>
      <source>{count:,} tok in</source>
      <translation>{count:,} Tok ein</translation>
    </message>
    <message>
      <source>{count:,} tok out</source>
      <translation>{count:,} Tok aus</translation>
    </message>
    <message>
      <source>{count:,} tokens</source>
      <translation>{count:,} Token</translation>
    </message>
    <message>
      <source>{count} changed</source>
      <translation>{count} geändert</translation>
    </message>
    <message>
      <source>{count} changed lines</source>
      <translation>{count} geänderte Zeilen</translation>
    </message>
    <message>
      <source>{count} differ, {same} the same</source>
      <translation>{count} anders, {same} gleich</translation>
    </message>
    <message>
      <source>{count} done</source>
      <translation>{count} fertig</translation>
    </message>
    <message>
      <source>{count} errors</source>
      <translation>{count} Fehler</translation>
    </message>
    <message>
      <source>{count} failed</source>
      <translation>{count} fehlgeschlagen</translation>
    </message>
    <message>
      <source>{count} hints</source>
      <translation>{count} Hinweise</translation>
    </message>
    <message>
      <source>{count} inputs</source>
      <translation>{count} Eingaben</translation>
    </message>
    <message>
      <source>{count} items</source>
      <translation>{count} Einträge</translation>
    </message>
    <message>
      <source>{count} matches</source>
      <translation>{count} Treffer</translation>
    </message>
    <message>
      <source>{count} messages are shown in the preview.</source>
      <translation>{count} Nachrichten stehen in der Vorschau.</translation>
    </message>
    <message>
      <source>{count} missing</source>
      <translation>{count} fehlen</translation>
    </message>
    <message>
      <source>{count} more</source>
      <translation>{count} weitere</translation>
    </message>
    <message>
      <source>{count} notes</source>
      <translation>{count} Anmerkungen</translation>
    </message>
    <message>
      <source>{count} of 1 request is prepared</source>
      <translation>{count} von 1 Anfrage ist vorbereitet</translation>
    </message>
    <message>
      <source>{count} of these calls may have side effects.</source>
      <translation>{count} dieser Aufrufe können draußen etwas ändern.</translation>
    </message>
    <message>
      <source>{count} of {all} selected, about {tokens} tokens in each request.</source>
      <translation>{count} von {all} gewählt, etwa {tokens} Token mit jeder Anfrage.</translation>
    </message>
    <message>
      <source>{count} of {rows} rows have no assertions: their answers are not checked.</source>
      <translation>{count} von {rows} Zeilen erwarten nichts: Ihre Antworten werden nicht geprüft.</translation>
    </message>
    <message>
      <source>{count} of {total} requests are prepared</source>
      <translation>{count} von {total} Anfragen sind vorbereitet</translation>
    </message>
    <message>
      <source>{count} old messages left out</source>
      <translation>{count} alte Nachrichten weggelassen</translation>
    </message>
    <message>
      <source>{count} recorded answers</source>
      <translation>{count} aufgezeichnete Antworten</translation>
    </message>
    <message>
      <source>{count} repaired</source>
      <translation>{count} repariert</translation>
    </message>
    <message>
      <source>{count} replaced</source>
      <translation>{count} ersetzt</translation>
    </message>
    <message>
      <source>{count} rows are read</source>
      <translation>{count} Zeilen sind gelesen</translation>
    </message>
    <message>
      <source>{count} running</source>
      <translation>{count} laufen</translation>
    </message>
    <message>
      <source>{count} runs</source>
      <translation>{count} Läufe</translation>
    </message>
    <message>
      <source>{count} runs are still running and were not deleted; stop them first</source>
      <translation>{count} Läufe sind im Gang und blieben erhalten; halten Sie sie zuerst an</translation>
    </message>
    <message>
      <source>{count} runs were deleted</source>
      <translation>{count} Läufe wurden gelöscht</translation>
    </message>
    <message>
      <source>{count} runs were imported</source>
      <translation>{count} Läufe wurden aufgenommen</translation>
    </message>
    <message>
      <source>{count} samples</source>
      <translation>{count} Beispiele</translation>
    </message>
    <message>
      <source>{count} saved in {file_name}</source>
      <translation>{count} in {file_name}</translation>
    </message>
    <message>
      <source>{count} sources have problems: {sources}.</source>
      <translation>{count} Quellen haben Probleme: {sources}.</translation>
    </message>
    <message>
      <source>{count} texts may be used.</source>
      <translation>{count} Texte dürfen verwendet werden.</translation>
    </message>
    <message>
      <source>{count} texts were proposed.</source>
      <translation>{count} Texte wurden vorgeschlagen.</translation>
    </message>
    <message>
      <source>{count} tokens</source>
      <translation>{count} Token</translation>
    </message>
    <message>
      <source>{count} tool</source>
      <translation>{count} Werkzeug</translation>
    </message>
    <message>
      <source>{count} tool calls were refused because they need approval. Set `mocks:` for the tools in the file.</source>
      <translation>{count} Werkzeugaufrufe wurden abgelehnt: Sie verlangen eine Freigabe. Beantworten Sie die Werkzeuge durch `mocks:` in der Datei.</translation>
    </message>
    <message>
      <source>{count} tools</source>
      <translation>{count} Werkzeuge</translation>
    </message>
    <message>
      <source>{count} tries</source>
      <translation>{count} Versuche</translation>
    </message>
    <message>
      <source>{count} variants were added to {name}; run the experiment to compare.</source>
      <translation>{count} Varianten stehen jetzt in {name}; führe das Experiment aus, um zu vergleichen.</translation>
    </message>
    <message>
      <source>{count} waiting</source>
      <translation>{count} warten</translation>
    </message>
    <message>
      <source>{count} warnings</source>
      <translation>{count} Warnungen</translation>
    </message>
    <message>
      <source>{count} without an answer</source>
      <translation>{count} ohne Antwort</translation>
    </message>
    <message>
      <source>{count} workers.</source>
      <translation>{count} Worker.</translation>
    </message>
    <message>
      <source>{count}, searching …</source>
      <translation>{count}, suche noch …</translation>
    </message>
    <message>
      <source>{days} days are kept</source>
      <translation>{days} Tage bleiben</translation>
    </message>
    <message>
      <source>{done} of {count} are in</source>
      <translation>{done} von {count} sind da</translation>
    </message>
    <message>
      <source>{done} of {count} calls were answered from the recording.</source>
      <translation>{done} von {count} Aufrufen wurden aus der Aufzeichnung beantwortet.</translation>
    </message>
    <message>
      <source>{done} of {size} MB</source>
      <translation>{done} von {size} MB</translation>
    </message>
    <message>
      <source>{few} of {names} let a value change the structure of the messages.</source>
      <translation>{few} von {names}: ein Wert kann den Aufbau der Nachrichten ändern.</translation>
    </message>
    <message>
      <source>{file} cannot be read: {reason}.</source>
      <translation>{file} kann nicht gelesen werden: {reason}.</translation>
    </message>
    <message>
      <source>{file} contains no rows with named values.</source>
      <translation>{file} enthält keine Zeilen mit benannten Werten.</translation>
    </message>
    <message>
      <source>{file} is not UTF-8 text.</source>
      <translation>{file} ist kein UTF-8-Text.</translation>
    </message>
    <message>
      <source>{file} is not an object of named sets.</source>
      <translation>{file} ist kein Objekt mit benannten Sätzen.</translation>
    </message>
    <message>
      <source>{folder} is not trusted: no ${{env:}} and no ${{file:}} of it is read.</source>
      <translation>{folder} wird nicht vertraut: kein ${{env:}} und kein ${{file:}} davon wird gelesen.</translation>
    </message>
    <message>
      <source>{folder} is not trusted: {sources} will not run.</source>
      <translation>{folder} wird nicht vertraut: {sources} laufen nicht.</translation>
    </message>
    <message>
      <source>{given} of {total} given</source>
      <translation>{given} von {total} angegeben</translation>
    </message>
    <message>
      <source>{half}, 95 % within {most}</source>
      <translation>{half}, 95 % innerhalb von {most}</translation>
    </message>
    <message>
      <source>{key} has a form that only the text can show: change it there.</source>
      <translation>{key} ist in einer eigenen Form geschrieben: ändern Sie es im Text.</translation>
    </message>
    <message>
      <source>{key} is already used by {names}.</source>
      <translation>{key} gehört schon zu {names}.</translation>
    </message>
    <message>
      <source>{key}: {first} and {second}</source>
      <translation>{key}: {first} und {second}</translation>
    </message>
    <message>
      <source>{kind}, on this computer</source>
      <translation>{kind}, auf diesem Rechner</translation>
    </message>
    <message>
      <source>{kind}, row {number}: like an earlier row</source>
      <translation>{kind}, Zeile {number}: wie eine frühere Zeile</translation>
    </message>
    <message>
      <source>{kind}, row {number}: {said}</source>
      <translation>{kind}, Zeile {number}: {said}</translation>
    </message>
    <message>
      <source>{kind}, {size}: cannot be shown</source>
      <translation>{kind}, {size}: kann nicht gezeigt werden</translation>
    </message>
    <message>
      <source>{kind}: no answer ({said})</source>
      <translation>{kind}: keine Antwort ({said})</translation>
    </message>
    <message>
      <source>{kind}: the reply contains no JSON list of rows</source>
      <translation>{kind}: die Antwort enthält keine JSON-Liste von Zeilen</translation>
    </message>
    <message>
      <source>{label} differs from what you allowed:</source>
      <translation>{label} ist nicht das, was Sie erlaubt haben:</translation>
    </message>
    <message>
      <source>{label} is new in a folder that you trust. It needs:</source>
      <translation>{label} ist neu in einem Ordner, dem Sie vertrauen. Es will:</translation>
    </message>
    <message>
      <source>{learn} training rows, {choose} selection rows, {decide} unseen until the end.</source>
      <translation>{learn} Zeilen zum Lernen, {choose} zum Auswählen, {decide} bis zum Ende ungesehen.</translation>
    </message>
    <message>
      <source>{matches} matches in 1 file</source>
      <translation>{matches} Stellen in 1 Datei</translation>
    </message>
    <message>
      <source>{matches} matches in {files} files</source>
      <translation>{matches} Stellen in {files} Dateien</translation>
    </message>
    <message>
      <source>{matches} or more matches in {files} files</source>
      <translation>{matches} oder mehr Stellen in {files} Dateien</translation>
    </message>
    <message>
      <source>{messages} to {model}</source>
      <translation>{messages} an {model}</translation>
    </message>
    <message>
      <source>{model} is not configured here, so nothing was run.</source>
      <translation>{model} ist hier nicht eingerichtet, es wurde nichts ausgeführt.</translation>
    </message>
    <message>
      <source>{moment}, iteration {number}</source>
      <translation>{moment}, Durchgang {number}</translation>
    </message>
    <message>
      <source>{name!r} already exists.</source>
      <translation>Etwas mit dem Namen {name!r} gibt es schon.</translation>
    </message>
    <message>
      <source>{name!r} cannot be opened: {reason}.</source>
      <translation>{name!r} kann nicht geöffnet werden: {reason}.</translation>
    </message>
    <message>
      <source>{name!r} could not be saved: {reason}.</source>
      <translation>{name!r} konnte nicht gespeichert werden: {reason}.</translation>
    </message>
    <message>
      <source>{name!r} could not be written: {reason}.</source>
      <translation>{name!r} konnte nicht geschrieben werden: {reason}.</translation>
    </message>
    <message>
      <source>{name!r} is not a name for a file.</source>
      <translation>{name!r} ist kein Name für eine Datei.</translation>
    </message>
    <message>
      <source>{name!r} is not a name of a tool: letters, digits, _ and -.</source>
      <translation>{name!r} ist kein Name eines Werkzeugs: Buchstaben, Ziffern, _ und -.</translation>
    </message>
    <message>
      <source>{name!r} is not a name: letters, digits and _ only.</source>
      <translation>{name!r} ist kein Name: nur Buchstaben, Ziffern und _.</translation>
    </message>
    <message>
      <source>{name!r} is read-only.</source>
      <translation>{name!r} ist schreibgeschützt.</translation>
    </message>
    <message>
      <source>{name!r} was changed meanwhile.</source>
      <translation>{name!r} wurde inzwischen geändert.</translation>
    </message>
    <message>
      <source>{name!r}: {reason}.</source>
      <translation>{name!r}: {reason}.</translation>
    </message>
    <message>
      <source>{name}  (baseline)</source>
      <translation>{name}  (Vergleichsbasis)</translation>
    </message>
    <message>
      <source>{name}  (without {names})</source>
      <translation>{name}  (ohne {names})</translation>
    </message>
    <message>
      <source>{name} (not allowed)</source>
      <translation>{name} (nicht erlaubt)</translation>
    </message>
    <message>
      <source>{name} (not set up)</source>
      <translation>{name} (nicht eingerichtet)</translation>
    </message>
    <message>
      <source>{name} agrees with people on {agreed} of 1 rated answer</source>
      <translation>{name} stimmt bei {agreed} von 1 bewerteten Antwort mit Menschen überein</translation>
    </message>
    <message>
      <source>{name} agrees with the ratings of {agreed} of {of} answers</source>
      <translation>{name} stimmt bei {agreed} von {of} bewerteten Antworten mit Menschen überein</translation>
    </message>
    <message>
      <source>{name} already exists.</source>
      <translation>{name} gibt es schon.</translation>
    </message>
    <message>
      <source>{name} and {other} sent the same requests.</source>
      <translation>{name} und {other} haben dieselben Anfragen gesendet.</translation>
    </message>
    <message>
      <source>{name} and {other} sent the same requests: the server rejects {names}.</source>
      <translation>{name} und {other} sendeten dieselben Anfragen: der Server lehnt {names} ab.</translation>
    </message>
    <message>
      <source>{name} answers: {reason}.</source>
      <translation>{name} antwortet: {reason}.</translation>
    </message>
    <message>
      <source>{name} cannot be created: {strerror}.</source>
      <translation>{name} kann nicht angelegt werden: {strerror}.</translation>
    </message>
    <message>
      <source>{name} contains a prompt from another program.</source>
      <translation>{name} enthält einen Prompt eines anderen Programms.</translation>
    </message>
    <message>
      <source>{name} could not be moved to the bin.</source>
      <translation>{name} konnte nicht in den Papierkorb gelegt werden.</translation>
    </message>
    <message>
      <source>{name} has changed meanwhile.</source>
      <translation>{name} hat sich inzwischen geändert.</translation>
    </message>
    <message>
      <source>{name} has no verdict: no row was answered.</source>
      <translation>{name} hat kein Urteil: Keine Zeile wurde beantwortet.</translation>
    </message>
    <message>
      <source>{name} is in the recycle bin.</source>
      <translation>{name} liegt im Papierkorb.</translation>
    </message>
    <message>
      <source>{name} is neither a program on the PATH nor a file in the folder.</source>
      <translation>{name} ist kein Programm im PATH und keine Datei des Ordners.</translation>
    </message>
    <message>
      <source>{name} is not a folder.</source>
      <translation>{name} ist kein Ordner.</translation>
    </message>
    <message>
      <source>{name} is not read.</source>
      <translation>{name} wird nicht gelesen.</translation>
    </message>
    <message>
      <source>{name} names a connection that is not configured here.</source>
      <translation>{name} nennt eine Verbindung, die hier nicht eingerichtet ist.</translation>
    </message>
    <message>
      <source>{name} needs a saved prompt file.</source>
      <translation>{name} braucht einen Prompt, der eine Datei ist.</translation>
    </message>
    <message>
      <source>{name} no longer exists.</source>
      <translation>{name} ist nicht mehr da.</translation>
    </message>
    <message>
      <source>{name} passes {share} of 1 row ({low} to {high})</source>
      <translation>{name} besteht {share} von 1 Zeile ({low} bis {high})</translation>
    </message>
    <message>
      <source>{name} passes {share} of {rows} rows ({low} to {high})</source>
      <translation>{name} besteht {share} von {rows} Zeilen ({low} bis {high})</translation>
    </message>
    <message>
      <source>{name} was restored.</source>
      <translation>{name} wurde wiederhergestellt.</translation>
    </message>
    <message>
      <source>{name} was run without {names}: the server rejects it.</source>
      <translation>{name} wurde ohne {names} ausgeführt: der Server lehnt es ab.</translation>
    </message>
    <message>
      <source>{name} would contain a key, and keys are never stored in files: use Key.</source>
      <translation>{name} enthielte einen Schlüssel, und Schlüssel werden nie in Dateien gespeichert: nehmen Sie Schlüssel.</translation>
    </message>
    <message>
      <source>{name}, as JSON</source>
      <translation>{name}, als JSON</translation>
    </message>
    <message>
      <source>{name}, edited</source>
      <translation>{name}, geändert</translation>
    </message>
    <message>
      <source>{name}: a file as a value is sent to the model, so it is only read in trusted folders; trust the experiment's folder to use it.</source>
      <translation>{name}: eine Datei als Wert wird an das Modell gesendet und darum nur in Ordnern gelesen, denen Sie vertrauen; vertrauen Sie dem Ordner des Experiments, um sie zu verwenden.</translation>
    </message>
    <message>
      <source>{name}: it contains no names with values (YAML or JSON).</source>
      <translation>{name}: Darin stehen keine Namen mit Werten (YAML oder JSON).</translation>
    </message>
    <message>
      <source>{name}: now and {earlier}</source>
      <translation>{name}: jetzt und {earlier}</translation>
    </message>
    <message>
      <source>{name}: the experiment has ended</source>
      <translation>{name}: das Experiment ist zu Ende</translation>
    </message>
    <message>
      <source>{name}: the experiment is paused</source>
      <translation>{name}: das Experiment pausiert</translation>
    </message>
    <message>
      <source>{name}: the experiment was stopped</source>
      <translation>{name}: das Experiment wurde angehalten</translation>
    </message>
    <message>
      <source>{name}: the file is outside of the experiment's folder; trust its folder to use it.</source>
      <translation>{name}: die Datei ist außerhalb des Ordners des Experiments; vertrauen Sie ihrem Ordner, um sie zu verwenden.</translation>
    </message>
    <message>
      <source>{name}: the same ({messages}, {tools})</source>
      <translation>{name}: gleich ({messages}, {tools})</translation>
    </message>
    <message>
      <source>{name}: there is no section {title!r}; there are: {known}.</source>
      <translation>{name}: Es gibt keinen Abschnitt {title!r}; vorhanden: {known}.</translation>
    </message>
    <message>
      <source>{name}: there is no such file.</source>
      <translation>{name}: Diese Datei gibt es nicht.</translation>
    </message>
    <message>
      <source>{name}: this is not a valid file name.</source>
      <translation>{name}: das ist kein gültiger Dateiname.</translation>
    </message>
    <message>
      <source>{name}: {words}.</source>
      <translation>{name}: {words}.</translation>
    </message>
    <message>
      <source>{name}@{revision}: Git is only run in folders that you trust.</source>
      <translation>{name}@{revision}: Git wird nur in Ordnern ausgeführt, denen Sie vertrauen.</translation>
    </message>
    <message>
      <source>{number:,} lines are the same</source>
      <translation>{number:,} Zeilen sind gleich</translation>
    </message>
    <message>
      <source>{number} min ago</source>
      <translation>vor {number} min</translation>
    </message>
    <message>
      <source>{number} of 5</source>
      <translation>{number} von 5</translation>
    </message>
    <message>
      <source>{number} of {count}</source>
      <translation>{number} von {count}</translation>
    </message>
    <message>
      <source>{number} of {count} · row {row}: {title}</source>
      <translation>{number} von {count} · Zeile {row}: {title}</translation>
    </message>
    <message>
      <source>{number}k tokens of context</source>
      <translation>{number}k Token Kontext</translation>
    </message>
    <message>
      <source>{n} inputs</source>
      <translation>{n} Eingaben</translation>
    </message>
    <message>
      <source>{n} lost</source>
      <translation>{n} verloren</translation>
    </message>
    <message>
      <source>{n} pass</source>
      <translation>{n} bestanden</translation>
    </message>
    <message>
      <source>{n} tools</source>
      <translation>{n} Werkzeuge</translation>
    </message>
    <message>
      <source>{option} by {model} ({day})</source>
      <translation>{option} bei {model} ({day})</translation>
    </message>
    <message>
      <source>{over} of 1 cell</source>
      <translation>{over} von 1 Zelle</translation>
    </message>
    <message>
      <source>{over} of {total} cells</source>
      <translation>{over} von {total} Zellen</translation>
    </message>
    <message>
      <source>{own} (recorded: {recorded})</source>
      <translation>{own} (aufgezeichnet: {recorded})</translation>
    </message>
    <message>
      <source>{passed} of {count}</source>
      <translation>{passed} von {count}</translation>
    </message>
    <message>
      <source>{place} is new</source>
      <translation>{place} ist neu</translation>
    </message>
    <message>
      <source>{place} is not configured here: connect it</source>
      <translation>{place} ist hier nicht eingerichtet: verbinden</translation>
    </message>
    <message>
      <source>{place} is {now}, not {before}</source>
      <translation>{place} ist {now}, nicht {before}</translation>
    </message>
    <message>
      <source>{place} was removed</source>
      <translation>{place} wurde entfernt</translation>
    </message>
    <message>
      <source>{place}: the file names no model, so the default is used</source>
      <translation>{place}: Die Datei nennt kein Modell, darum antwortet die Vorgabe</translation>
    </message>
    <message>
      <source>{place}: the value {name!r} reads {{{{ {other} }}}}, and a value is not a template here: write the text, or insert it into the prompt.</source>
      <translation>{place}: der Wert {name!r} liest {{{{ {other} }}}}, und ein Wert ist hier keine Vorlage: schreiben Sie den Text selbst, oder fügen Sie ihn in den Prompt ein.</translation>
    </message>
    <message>
      <source>{plural} above: the same as in the iteration before</source>
      <translation>{plural} darüber: gleich wie im Durchgang davor</translation>
    </message>
    <message>
      <source>{plural} added</source>
      <translation>{plural} hinzugefügt</translation>
    </message>
    <message>
      <source>{plural} as before</source>
      <translation>{plural} wie zuvor</translation>
    </message>
    <message>
      <source>{plural} before these, the same as in the iteration before; Copy takes all</source>
      <translation>{plural} davor, gleich wie im Durchgang davor; „Kopieren“ nimmt alles</translation>
    </message>
    <message>
      <source>{plural} gone</source>
      <translation>{plural} fort</translation>
    </message>
    <message>
      <source>{plural} new</source>
      <translation>{plural} neu</translation>
    </message>
    <message>
      <source>{price:g} (known)</source>
      <translation>{price:g} (wie bekannt)</translation>
    </message>
    <message>
      <source>{program} read the file: the messages are the same</source>
      <translation>{program} hat die Datei gelesen: die Nachrichten sind dieselben</translation>
    </message>
    <message>
      <source>{program} reads other messages: see the round trips</source>
      <translation>{program} liest etwas anderes, wie die Rückproben sagen</translation>
    </message>
    <message>
      <source>{proposed} texts were proposed: {kept} scored, {refused} refused before they were sent.</source>
      <translation>{proposed} Texte wurden vorgeschlagen: {kept} bewertet, {refused} abgelehnt, bevor sie gesendet wurden.</translation>
    </message>
    <message>
      <source>{rate:,.0f} tok/s</source>
      <translation>{rate:,.0f} Tok/s</translation>
    </message>
    <message>
      <source>{rate:.0f} tok/s</source>
      <translation>{rate:.0f} Tok/s</translation>
    </message>
    <message>
      <source>{rate} a second</source>
      <translation>{rate} je Sekunde</translation>
    </message>
    <message>
      <source>{role}, message {number}</source>
      <translation>{role}, Nachricht {number}</translation>
    </message>
    <message>
      <source>{role}, message {number}, no longer there</source>
      <translation>{role}, Nachricht {number}, nicht mehr da</translation>
    </message>
    <message>
      <source>{row} of {count}</source>
      <translation>{row} von {count}</translation>
    </message>
    <message>
      <source>{said} It is sent again in the next batch.</source>
      <translation>{said} Es wird im nächsten Stapel noch einmal gesendet.</translation>
    </message>
    <message>
      <source>{sent:,} in, {received:,} out</source>
      <translation>{sent:,} ein, {received:,} aus</translation>
    </message>
    <message>
      <source>{sent:,} tokens sent as counted now, {received:,} received on average in the last {runs} runs.</source>
      <translation>{sent:,} Tokens gesendet, wie jetzt gezählt, {received:,} empfangen: das Mittel der letzten {runs} Läufe.</translation>
    </message>
    <message>
      <source>{sent:,} tokens sent, {received:,} received: averages of the last {runs} runs.</source>
      <translation>{sent:,} Token gesendet, {received:,} empfangen: Mittelwerte der letzten {runs} Läufe.</translation>
    </message>
    <message>
      <source>{sent:,} tokens sent; the answer is not included because there is no run yet.</source>
      <translation>{sent:,} Token gesendet; die Antwort zählt nicht mit, weil es noch keinen Lauf gibt.</translation>
    </message>
    <message>
      <source>{sent}. The address is set in the file, and you have not allowed it yet.</source>
      <translation>{sent}. Die Adresse kommt aus der Datei, und Sie haben sie noch nicht erlaubt.</translation>
    </message>
    <message>
      <source>{share:.1%} of the context window of {context_window:,} tokens.</source>
      <translation>{share:.1%} des Kontextfensters von {context_window:,} Token.</translation>
    </message>
    <message>
      <source>{share} of 1 row</source>
      <translation>{share} von 1 Zeile</translation>
    </message>
    <message>
      <source>{share} of {rows} rows</source>
      <translation>{share} von {rows} Zeilen</translation>
    </message>
    <message>
      <source>{shown} of {total}</source>
      <translation>{shown} von {total}</translation>
    </message>
    <message>
      <source>{size:,} characters of JSON</source>
      <translation>{size:,} Zeichen JSON</translation>
    </message>
    <message>
      <source>{size}, cannot be shown</source>
      <translation>{size}, kein Bild, das gezeigt werden kann</translation>
    </message>
    <message>
      <source>{size}; F12 opens it</source>
      <translation>{size}; F12 öffnet sie</translation>
    </message>
    <message>
      <source>{source} calls it {name!r}.</source>
      <translation>{source} nennt es {name!r}.</translation>
    </message>
    <message>
      <source>{steps} steps</source>
      <translation>{steps} Schritte</translation>
    </message>
    <message>
      <source>{steps} steps, 1 tool call</source>
      <translation>{steps} Schritte, 1 Werkzeugaufruf</translation>
    </message>
    <message>
      <source>{steps} steps, {calls} tool calls</source>
      <translation>{steps} Schritte, {calls} Werkzeugaufrufe</translation>
    </message>
    <message>
      <source>{summary}
And {count} before it.</source>
      <translation>{summary}
Und {count} davor.</translation>
    </message>
    <message>
      <source>{summary} The prompt has changed since: probe again.</source>
      <translation>{summary} Der Prompt wurde seither geändert: proben Sie noch einmal.</translation>
    </message>
    <message>
      <source>{text!r} is not a number.</source>
      <translation>{text!r} ist keine Zahl.</translation>
    </message>
    <message>
      <source>{text}, {baseline} {share}: 1 row won, {lost} lost.</source>
      <translation>{text}, {baseline} {share}: 1 Zeile gewonnen, {lost} verloren.</translation>
    </message>
    <message>
      <source>{text}, {baseline} {share}: {won} rows won, {lost} lost.</source>
      <translation>{text}, {baseline} {share}: {won} Zeilen gewonnen, {lost} verloren.</translation>
    </message>
    <message>
      <source>{time} left</source>
      <translation>noch {time}</translation>
    </message>
    <message>
      <source>{title} (safe mode)</source>
      <translation>{title} (abgesichert)</translation>
    </message>
    <message>
      <source>{title} (same)</source>
      <translation>{title} (gleich)</translation>
    </message>
    <message>
      <source>{title} changed on disk.</source>
      <translation>{title} hat sich auf der Platte geändert.</translation>
    </message>
    <message>
      <source>{title} is read-only: save changes under another name.</source>
      <translation>{title} ist schreibgeschützt: speichern Sie Änderungen unter einem anderen Namen.</translation>
    </message>
    <message>
      <source>{title} was deleted or moved. Save to write it again.</source>
      <translation>{title} wurde gelöscht oder verschoben. Speichern schreibt die Datei wieder.</translation>
    </message>
    <message>
      <source>{title} — Prompt Studio</source>
      <translation>{title} – Prompt Studio</translation>
    </message>
    <message>
      <source>{title}: {used} of {most}</source>
      <translation>{title}: {used} von {most}</translation>
    </message>
    <message>
      <source>{tool} as {form}</source>
      <translation>{tool} als {form}</translation>
    </message>
    <message>
      <source>{tool} failed.</source>
      <translation>{tool} ist fehlgeschlagen.</translation>
    </message>
    <message>
      <source>{tool} has returned a result.</source>
      <translation>{tool} hat geantwortet.</translation>
    </message>
    <message>
      <source>{tool} took too long and was stopped.</source>
      <translation>{tool} brauchte zu lange und wurde angehalten.</translation>
    </message>
    <message>
      <source>{tool} was called, and you give the result. The arguments:</source>
      <translation>{tool} wurde aufgerufen, und Sie antworten. Die Argumente:</translation>
    </message>
    <message>
      <source>{total} tools</source>
      <translation>{total} Werkzeuge</translation>
    </message>
    <message>
      <source>{type}, from the body's tools: section</source>
      <translation>{type}, aus dem Abschnitt tools: des Textes</translation>
    </message>
    <message>
      <source>{usual} (one less than available)</source>
      <translation>{usual} (einer weniger, als es gibt)</translation>
    </message>
    <message>
      <source>{value!r} is not one of the allowed values.</source>
      <translation>{value!r} ist keiner der erlaubten Werte.</translation>
    </message>
    <message>
      <source>{value}
F2 changes the value</source>
      <translation>{value}
F2 ändert den Wert</translation>
    </message>
    <message>
      <source>{variable} of your environment</source>
      <translation>{variable} aus Ihrer Umgebung</translation>
    </message>
    <message>
      <source>{variant}: {connection} has no batches; OpenAI, Azure, Anthropic and servers that speak OpenAI's API have them. Run this variant without batches.</source>
      <translation>{variant}: {connection} hat keine Batches; OpenAI, Azure, Anthropic und Server mit der API von OpenAI haben sie. Führen Sie diese Variante ohne Batches aus.</translation>
    </message>
    <message>
      <source>{when}: {answers}, {question}</source>
      <translation>{when}: {answers}, {question}</translation>
    </message>
    <message>
      <source>{when}: {what}, about 1 token</source>
      <translation>{when}: {what}, etwa 1 Token</translation>
    </message>
    <message>
      <source>{when}: {what}, about {tokens} tokens</source>
      <translation>{when}: {what}, etwa {tokens} Token</translation>
    </message>
    <message>
      <source>{where}: {fault} Change the template; nothing was sent.</source>
      <translation>{where}: {fault} Ändern Sie die Vorlage; nichts wurde gesendet.</translation>
    </message>
    <message>
      <source>{window:,} tokens</source>
      <translation>{window:,} Tokens</translation>
    </message>
    <message>
      <source>{window:,} tokens (known)</source>
      <translation>{window:,} Tokens (bekannt)</translation>
    </message>
    <message>
      <source>{words}  (Space at the steps)</source>
      <translation>{words}  (Leertaste bei den Schritten)</translation>
    </message>
    <message>
      <source>{words} in {turns}, {seconds}</source>
      <translation>{words} in {turns}, {seconds}</translation>
    </message>
    <message>
      <source>{words} in {turns}: worked {seconds}, waited for you {waited}</source>
      <translation>{words} in {turns}: {seconds} gearbeitet, {waited} auf Sie gewartet</translation>
    </message>
    <message>
      <source>{words}, optional</source>
      <translation>{words}, freiwillig</translation>
    </message>
    <message>
      <source>{words}.</source>
      <translation>{words} in den Verlauf.</translation>
    </message>
    <message>
      <source>{word} is not a JSON value.</source>
      <translation>{word} ist kein JSON-Wert.</translation>
    </message>
    <message>
      <source>… shown up to here; the file contains all</source>
      <translation>… bis hier gezeigt; geschrieben wird alles</translation>
    </message>
    <message>
      <source>… {count:,} characters left out here; Copy takes all …</source>
      <translation>… {count:,} Zeichen hier ausgelassen; „Kopieren“ nimmt alles …</translation>
    </message>
    <message>
      <source>… {plural} left out here; Copy takes all …</source>
      <translation>… {plural} hier ausgelassen; „Kopieren“ nimmt alles …</translation>
    </message>
    <message>
      <source>← received</source>
      <translation>← empfangen</translation>
    </message>
    <message>
      <source>→ sent</source>
      <translation>→ gesendet</translation>
    </message>
    <message>
      <source>− earlier   + now</source>
      <translation>− früher   + jetzt</translation>
    </message>
    <message>
      <source>− on disk only   + in the editor only</source>
      <translation>− nur auf der Platte   + nur im Editor</translation>
    </message>
    <message>
      <source>⚠ looks like structure</source>
      <translation>⚠ sieht aus wie Struktur</translation>
    </message>
    <message>
      <source>✓ The arguments match the tool's schema.</source>
      <translation>✓ Die Argumente passen zum Schema.</translation>
    </message>
  </context>
</TS>
