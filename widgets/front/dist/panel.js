"use strict";(()=>{var x=`.mgp-icon {
  background: var(--mgp-icon) center / 18px no-repeat;
}
[data-jp-theme-light="false"] .mgp-icon {
  filter: invert(1) hue-rotate(180deg);
}
.mgp {
  background: var(--jp-layout-color1);
  color: var(--jp-ui-font-color1);
  font: var(--jp-ui-font-size1, 13px) / 1.5 var(--jp-ui-font-family);
  overflow: auto;
  padding: 12px 14px;
}
.mgp h2 {
  font-size: 1.15em;
  margin: 4px 0;
}
.mgp p {
  margin: 0 0 6px;
}
.mgp ol {
  list-style: none;
  margin: 0 0 10px;
  padding: 0;
}
.mgp li {
  align-items: baseline;
  display: flex;
  flex-wrap: wrap;
  gap: 2px 8px;
  padding: 2px 6px;
  border-radius: 4px;
}
.mgp li.mgp-next {
  background: var(--jp-layout-color2);
}
.mgp .mgp-link {
  background: none;
  border: 0;
  color: inherit;
  cursor: pointer;
  flex: 1;
  font: inherit;
  min-height: 24px;
  min-width: 60%;
  padding: 2px 0;
  text-align: left;
}
.mgp .mgp-link:hover {
  text-decoration: underline;
}
.mgp button:focus-visible,
.mgp summary:focus-visible {
  outline: 2px solid var(--jp-brand-color1);
  outline-offset: 1px;
}
.mgp .mgp-buttons {
  display: flex;
  flex-basis: 100%;
  gap: 8px;
  padding: 2px 0 4px 20px;
}
.mgp .mgp-buttons button {
  background: var(--jp-layout-color1);
  border: 1px solid var(--jp-border-color1);
  border-radius: 4px;
  color: inherit;
  cursor: pointer;
  font: inherit;
  min-height: 26px;
  padding: 1px 12px;
}
.mgp .mgp-note {
  overflow-wrap: anywhere;
}
.mgp .mgp-note pre {
  overflow: auto;
}
.mgp .mgp-word {
  border-top: 1px solid var(--jp-border-color2);
  margin-top: 10px;
  padding-top: 6px;
}
.mgp details {
  border-top: 1px solid var(--jp-border-color2);
  margin-top: 10px;
  padding-top: 6px;
}
.mgp summary {
  cursor: pointer;
  font-weight: 600;
}
`;var $=`data:image/svg+xml;utf8,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g fill="none" stroke="dimgray" stroke-width="1.4"><circle cx="3.5" cy="4" r="1.8"/><circle cx="3.5" cy="12" r="1.8"/><circle cx="12.5" cy="8" r="1.8"/><path d="M5.2 4.8 10.8 7.2M5.2 11.2l5.6-2.4"/></g></svg>')}`;function s(i,t={},...e){let n=Object.assign(document.createElement(i),t);return n.append(...e),n}async function h(i,t){let e={code:"",silent:!0,store_history:!1,user_expressions:{answer:t}},{content:n}=await i.requestExecute(e,!0).done;return n.user_expressions?.answer?.data?.["application/json"]}var g="__import__('widgets.side_panel', fromlist=['state'])";function w(i,t,e){document.head.append(s("style",{textContent:x}));let n=new e;n.id="minigrad-panel",n.title.caption="minigrad: this chapter",n.title.iconClass="mgp-icon",document.documentElement.style.setProperty("--mgp-icon",`url("${$}")`),n.node.tabIndex=-1,n.node.ariaLabel="minigrad: this chapter",n.node.setAttribute("role","region"),i.shell.add(n,"left",{rank:900});let o=new m(n.node,i,t);t.currentChanged.connect(()=>o.watch()),o.watch()}var m=class{#t;#o;#e;#i="";constructor(t,e,n){this.app=e,this.tracker=n,this.list=s("section"),this.note=s("div",{className:"mgp-note",ariaLive:"polite"}),this.word=s("section",{className:"mgp-word",hidden:!0}),this.chapters=s("details"),t.classList.add("mgp"),t.append(this.list,this.note,this.word,this.chapters),this.#s("Open a chapter, and its exercises appear here."),this.status=this.status.bind(this),document.addEventListener("selectionchange",()=>this.#g())}watch(){this.#t?.statusChanged.disconnect(this.status),this.#t=this.tracker.currentWidget?.sessionContext,this.#t?.statusChanged.connect(this.status),this.note.replaceChildren(),this.#r()}status(t,e){e==="idle"&&this.#r()}#r(){clearTimeout(this.#o),this.#o=setTimeout(()=>this.#a().catch(()=>this.#s("This kernel knows nothing of the course.")),300)}get#n(){return this.#t?.session?.kernel}async#a(){let t=this.#n;if(t?.status!=="idle")return;let e=await h(t,`${g}.state()`);if(t===this.#n){if(!e)return this.#s("This notebook's kernel does not have the course.");this.#e??=(await h(t,`${g}.glossary()`))?.words,this.#p(e)}}#s(t){this.list.replaceChildren(s("h2",{textContent:"This chapter"}),s("p",{textContent:t}))}#p({chapter:t,exercises:e,next:n,chapters:o}){let p=o.find(({number:r})=>r===Number(t||-1)),a=e.filter(({passed:r})=>r).length,c=e.map(r=>this.#c(r,r.id===n));this.list.replaceChildren(s("h2",{textContent:p?`${p.number} · ${p.title}`:"This notebook"}),s("p",{textContent:c.length?`${a} of ${c.length} exercises have passed.`:"It has no exercises."}),s("ol",{},...c));let l=this.chapters.open;this.chapters.replaceChildren(s("summary",{textContent:"All chapters"}),s("ol",{},...o.map(r=>this.#l(r)))),this.chapters.open=l}#c(t,e){let n=t.passed?"✓":t.tried?"✗":"○",o=t.passed?"passed":t.tried?"not yet":"open",p=s("button",{className:"mgp-link",onclick:()=>this.#d(t)},`${t.id} ${t.title}`),a=s("li",{className:e?"mgp-next":""},s("span",{ariaLabel:o,role:"img"},n),p);if(!e)return a;let c=l=>s("button",{onclick:()=>this.#h(l,t.id)},l==="hint"?"Hint":"Solution");return a.append(s("div",{className:"mgp-buttons"},c("hint"),c("reveal"))),this.#i!==t.id&&this.note.replaceChildren(),a}#l({number:t,title:e,notebook:n,minutes:o,passed:p,of:a}){let c=this.tracker.currentWidget?.context.path.replace(/[^/]*$/,"")??"",l=()=>this.app.commands.execute("docmanager:open",{path:c+n}),r=a?`${p} of ${a}`:`${o} min`;return s("li",{},s("button",{className:"mgp-link",onclick:l},`${t} · ${e}`),s("span",{},r))}#d({id:t,title:e}){this.tracker.currentWidget?.setFragment(`#${`Exercise ${t}: ${e}`.replace(/ /g,"-")}`)}async#h(t,e){let n=this.#n;if(this.#i=e,n?.status!=="idle"){this.note.textContent="The kernel is at work. Ask again when it has finished.";return}let o=await h(n,`${g}.${t}(${JSON.stringify(e)})`).catch(()=>{});this.note.innerHTML=o?.html??"The kernel has not answered."}#g(){let t=document.getSelection(),e=t?.anchorNode,n=e instanceof Element?e:e?.parentElement;if(!this.#e||!t||!e||!n?.closest(".jp-Notebook"))return;let o=e.nodeType===Node.TEXT_NODE?e.textContent??"":"",a=((o.slice(0,t.anchorOffset).match(/([\w-]+\s+)?[\w-]*$/)?.[0]??"")+(o.slice(t.anchorOffset).match(/^[\w-]*(\s+[\w-]+)?/)?.[0]??"")).trim().split(/\s+/),r=[t.toString().trim(),...a.map((d,f)=>a.slice(f,f+2).join(" ")),...a].map(d=>d.toLowerCase()).flatMap(d=>[d,d.replace(/e?s$/,"")]).map(d=>this.#e?.[d]).find(Boolean);r&&(this.word.replaceChildren(s("h2",{textContent:r.word}),s("p",{textContent:r.text})),this.word.hidden=!1)}};var u="minigrad-course",k;async function b(i){return(await Object.values(k[i])[0].get())()}var v=window;v._JUPYTERLAB??={};v._JUPYTERLAB[u]={init(i){k=i},async get(i){if(i!=="./extension")throw new Error(`${u} has no module ${i}`);let[{INotebookTracker:t},{Widget:e}]=await Promise.all([b("@jupyterlab/notebook"),b("@lumino/widgets")]),n={id:`${u}:panel`,autoStart:!0,requires:[t],activate:(o,p)=>w(o,p,e)};return()=>({__esModule:!0,default:n})}};})();
